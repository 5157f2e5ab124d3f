"""Prototypes of common C library functions, for calls to code that is not at hand."""

from __future__ import annotations

import re
from functools import cache

from isoform.model.signature import Signature

NO_RETURN: frozenset[str] = frozenset(
    {
        *("abort", "exit", "_exit", "_Exit", "quick_exit", "pthread_exit", "thrd_exit"),
        *("err", "errx", "verr", "verrx"),
        *("__stack_chk_fail", "__stack_chk_fail_local", "__fortify_fail", "__chk_fail"),
        *("__assert_fail", "__assert_perror_fail", "__assert"),
        *("__cxa_throw", "__cxa_rethrow", "__cxa_bad_cast", "__cxa_bad_typeid", "__cxa_pure_virtual"),
        *("_Unwind_Resume", "_ZSt9terminatev"),
        *("longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"),
    }
)
"""Functions that never return: a call to one ends the run with that outcome."""


def is_reserved(name: str) -> bool:
    """Whether C reserves the name for the implementation: that it means the library's function needs no assumption."""
    return name.startswith("__") or (name[:1] == "_" and name[1:2].isupper())


_PROTOTYPES = """
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);
void *reallocarray(void *block, size_t count, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
int posix_memalign(void **block, size_t alignment, size_t size);
void free(void *block);
void *_Znwm(size_t size);
void *_Znam(size_t size);
void _ZdlPv(void *block);
void _ZdaPv(void *block);
void _ZdlPvm(void *block, size_t size);
void _ZdaPvm(void *block, size_t size);
void *memcpy(void *to, const void *from, size_t count);
void *mempcpy(void *to, const void *from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);
int memcmp(const void *left, const void *right, size_t count);
int bcmp(const void *left, const void *right, size_t count);
void bzero(void *to, size_t count);
void *memchr(const void *block, int value, size_t count);
void *memrchr(const void *block, int value, size_t count);
void *memmem(const void *block, size_t size, const void *wanted, size_t wanted_size);
size_t strlen(const char *text);
size_t strnlen(const char *text, size_t limit);
char *strcpy(char *to, const char *from);
char *strncpy(char *to, const char *from, size_t count);
char *stpcpy(char *to, const char *from);
char *stpncpy(char *to, const char *from, size_t count);
char *strcat(char *to, const char *from);
char *strncat(char *to, const char *from, size_t count);
size_t strlcpy(char *to, const char *from, size_t size);
size_t strlcat(char *to, const char *from, size_t size);
int strcmp(const char *left, const char *right);
int strncmp(const char *left, const char *right, size_t count);
int strcasecmp(const char *left, const char *right);
int strncasecmp(const char *left, const char *right, size_t count);
int strcoll(const char *left, const char *right);
char *strchr(const char *text, int character);
char *strchrnul(const char *text, int character);
char *strrchr(const char *text, int character);
char *strstr(const char *text, const char *wanted);
size_t strspn(const char *text, const char *accepted);
size_t strcspn(const char *text, const char *rejected);
char *strpbrk(const char *text, const char *accepted);
char *strtok(char *text, const char *separators);
char *strtok_r(char *text, const char *separators, char **state);
char *strsep(char **text, const char *separators);
char *strdup(const char *text);
char *strndup(const char *text, size_t count);
char *strerror(int number);
int atoi(const char *text);
long atol(const char *text);
long long atoll(const char *text);
double atof(const char *text);
long strtol(const char *text, char **end, int base);
long long strtoll(const char *text, char **end, int base);
unsigned long strtoul(const char *text, char **end, int base);
unsigned long long strtoull(const char *text, char **end, int base);
double strtod(const char *text, char **end);
float strtof(const char *text, char **end);
int printf(const char *format, ...);
int fprintf(FILE *stream, const char *format, ...);
int dprintf(int descriptor, const char *format, ...);
int sprintf(char *to, const char *format, ...);
int snprintf(char *to, size_t size, const char *format, ...);
int asprintf(char **to, const char *format, ...);
int vprintf(const char *format, va_list arguments);
int vfprintf(FILE *stream, const char *format, va_list arguments);
int vsprintf(char *to, const char *format, va_list arguments);
int vsnprintf(char *to, size_t size, const char *format, va_list arguments);
int scanf(const char *format, ...);
int fscanf(FILE *stream, const char *format, ...);
int sscanf(const char *text, const char *format, ...);
int puts(const char *text);
int fputs(const char *text, FILE *stream);
int putchar(int character);
int putc(int character, FILE *stream);
int fputc(int character, FILE *stream);
int getchar(void);
int getc(FILE *stream);
int fgetc(FILE *stream);
int ungetc(int character, FILE *stream);
char *fgets(char *to, int size, FILE *stream);
ssize_t getline(char **line, size_t *size, FILE *stream);
FILE *fopen(const char *path, const char *mode);
FILE *fdopen(int descriptor, const char *mode);
FILE *freopen(const char *path, const char *mode, FILE *stream);
int fclose(FILE *stream);
int fflush(FILE *stream);
size_t fread(void *to, size_t size, size_t count, FILE *stream);
size_t fwrite(const void *from, size_t size, size_t count, FILE *stream);
int fseek(FILE *stream, long offset, int origin);
long ftell(FILE *stream);
void rewind(FILE *stream);
int feof(FILE *stream);
int ferror(FILE *stream);
void clearerr(FILE *stream);
int fileno(FILE *stream);
void perror(const char *text);
int remove(const char *path);
int rename(const char *from, const char *to);
int open(const char *path, int flags, ...);
int openat(int directory, const char *path, int flags, ...);
int close(int descriptor);
ssize_t read(int descriptor, void *to, size_t count);
ssize_t write(int descriptor, const void *from, size_t count);
ssize_t pread(int descriptor, void *to, size_t count, off_t offset);
ssize_t pwrite(int descriptor, const void *from, size_t count, off_t offset);
off_t lseek(int descriptor, off_t offset, int origin);
int dup(int descriptor);
int dup2(int descriptor, int wanted);
int pipe(int *descriptors);
int fcntl(int descriptor, int command, ...);
int ioctl(int descriptor, unsigned long request, ...);
int unlink(const char *path);
int access(const char *path, int mode);
int mkdir(const char *path, mode_t mode);
int rmdir(const char *path);
int chdir(const char *path);
char *getcwd(char *to, size_t size);
int isatty(int descriptor);
void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset);
int munmap(void *address, size_t length);
int mprotect(void *address, size_t length, int protection);
pid_t fork(void);
pid_t getpid(void);
pid_t waitpid(pid_t process, int *status, int options);
int kill(pid_t process, int signal);
int raise(int signal);
unsigned sleep(unsigned seconds);
int usleep(unsigned microseconds);
int socket(int domain, int type, int protocol);
ssize_t send(int descriptor, const void *from, size_t count, int flags);
ssize_t recv(int descriptor, void *to, size_t count, int flags);
void abort(void);
void exit(int status);
void _exit(int status);
void _Exit(int status);
void quick_exit(int status);
int atexit(void (*function)(void));
int system(const char *command);
char *getenv(const char *name);
int setenv(const char *name, const char *value, int overwrite);
int unsetenv(const char *name);
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
void *bsearch(const void *key, const void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
int abs(int value);
long labs(long value);
long long llabs(long long value);
int rand(void);
void srand(unsigned seed);
long random(void);
void srandom(unsigned seed);
int rand_r(unsigned *seed);
time_t time(time_t *to);
clock_t clock(void);
int isalnum(int character);
int isalpha(int character);
int iscntrl(int character);
int isdigit(int character);
int isgraph(int character);
int islower(int character);
int isprint(int character);
int ispunct(int character);
int isspace(int character);
int isupper(int character);
int isxdigit(int character);
int tolower(int character);
int toupper(int character);
double sqrt(double x);
double pow(double x, double y);
double exp(double x);
double log(double x);
double sin(double x);
double cos(double x);
double floor(double x);
double ceil(double x);
double fabs(double x);
double fmod(double x, double y);
float sqrtf(float x);
float fabsf(float x);
double exp2(double x);
double expm1(double x);
double log2(double x);
double log10(double x);
double log1p(double x);
double tan(double x);
double asin(double x);
double acos(double x);
double atan(double x);
double sinh(double x);
double cosh(double x);
double tanh(double x);
double asinh(double x);
double acosh(double x);
double atanh(double x);
double cbrt(double x);
double erf(double x);
double erfc(double x);
double trunc(double x);
double rint(double x);
double nearbyint(double x);
double roundeven(double x);
double round(double x);
float expf(float x);
float exp2f(float x);
float expm1f(float x);
float logf(float x);
float log2f(float x);
float log10f(float x);
float log1pf(float x);
float sinf(float x);
float cosf(float x);
float tanf(float x);
float asinf(float x);
float acosf(float x);
float atanf(float x);
float sinhf(float x);
float coshf(float x);
float tanhf(float x);
float asinhf(float x);
float acoshf(float x);
float atanhf(float x);
float cbrtf(float x);
float erff(float x);
float erfcf(float x);
float truncf(float x);
float rintf(float x);
float nearbyintf(float x);
float roundevenf(float x);
float roundf(float x);
float floorf(float x);
float ceilf(float x);
double atan2(double x, double y);
double hypot(double x, double y);
double remainder(double x, double y);
double copysign(double x, double y);
double fmin(double x, double y);
double fmax(double x, double y);
double fdim(double x, double y);
float atan2f(float x, float y);
float hypotf(float x, float y);
float remainderf(float x, float y);
float copysignf(float x, float y);
float fminf(float x, float y);
float fmaxf(float x, float y);
float fdimf(float x, float y);
float powf(float x, float y);
float fmodf(float x, float y);
long lrint(double x);
long lrintf(float x);
double ldexp(double x, int exponent);
float ldexpf(float x, int exponent);
double scalbn(double x, int exponent);
float scalbnf(float x, int exponent);
double scalbln(double x, long exponent);
float scalblnf(float x, long exponent);
double logb(double x);
float logbf(float x);
int ilogb(double x);
int ilogbf(float x);
double nextafter(double x, double y);
float nextafterf(float x, float y);
long lround(double x);
long lroundf(float x);
long long llround(double x);
long long llroundf(float x);
long long llrint(double x);
long long llrintf(float x);
double fma(double x, double y, double z);
float fmaf(float x, float y, float z);
double modf(double x, double *whole);
float modff(float x, float *whole);
double __powidf2(double x, int exponent);
float __powisf2(float x, int exponent);
struct complex_double __muldc3(double a, double b, double c, double d);
struct complex_double __divdc3(double a, double b, double c, double d);
void sincos(double x, double *sine, double *cosine);
void sincosf(float x, float *sine, float *cosine);
long imaxabs(long value);
int ffs(int value);
int ffsl(long value);
int ffsll(long long value);
int __popcountsi2(unsigned value);
int __popcountdi2(unsigned long value);
unsigned __bswapsi2(unsigned value);
unsigned long __bswapdi2(unsigned long value);
unsigned htonl(unsigned value);
unsigned ntohl(unsigned value);
unsigned short htons(unsigned short value);
unsigned short ntohs(unsigned short value);
int toascii(int character);
int isascii(int character);
int isblank(int character);
char *index(const char *text, int character);
char *rindex(const char *text, int character);
int *__errno_location(void);
const unsigned short **__ctype_b_loc(void);
const int **__ctype_tolower_loc(void);
const int **__ctype_toupper_loc(void);
void __stack_chk_fail(void);
void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function);
void *__memcpy_chk(void *to, const void *from, size_t count, size_t room);
void *__memmove_chk(void *to, const void *from, size_t count, size_t room);
void *__memset_chk(void *to, int value, size_t count, size_t room);
char *__strcpy_chk(char *to, const char *from, size_t room);
char *__strncpy_chk(char *to, const char *from, size_t count, size_t room);
char *__strcat_chk(char *to, const char *from, size_t room);
char *__strncat_chk(char *to, const char *from, size_t count, size_t room);
int __printf_chk(int flag, const char *format, ...);
int __fprintf_chk(FILE *stream, int flag, const char *format, ...);
int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...);
int __snprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, ...);
int pthread_mutex_lock(void *mutex);
int pthread_mutex_unlock(void *mutex);
"""

_COMPLEX = {"complex_double": "struct complex_double { double real, imag; }; "}
"""A complex number is returned as a structure of two parts is."""


@cache
def known_signature(name: str) -> Signature | None:
    """The signature of a C library function; None if it is not in the table."""
    line = re.search(rf"^.*[ *]{re.escape(name)}\(.*$", _PROTOTYPES, re.MULTILINE) if name.isidentifier() else None
    if line is None or not re.match(rf"[\w *]*[ *]{re.escape(name)}\(", line[0]):
        return None
    from isoform.load.prototype import parse_prototype

    return parse_prototype(_COMPLEX.get(line[0].split()[1], "") + line[0])
