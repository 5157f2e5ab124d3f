"""Everything that isoform knows about library functions: one table, which everything else reads (`library.py`).

What a function computes is in `borders/library_values.py`, what one writes to a stream in `borders/output.py`, and the
instructions that stand for one in the package of the machine.
"""

from __future__ import annotations

import re

from isoform.model.allocation import Allocating
from isoform.model.library_function import (
    Allocation,
    Computes,
    FormatKind,
    LibraryFunction,
    Meaning,
    Replaced,
    ResultRange,
)


def _allocates(kind: Allocating, sizes: tuple[int, ...] = (), may_fail: bool = True) -> LibraryFunction:
    return LibraryFunction(allocation=Allocation(kind, sizes, may_fail), replaced=Replaced.BY_CALL)


def _and_for_float(prototypes: str) -> str:
    """The functions of doubles, and those of floats beside them: `sqrt` and `sqrtf`."""
    return prototypes + re.sub(r"\bdouble\b", "float", re.sub(r"(\w)\(", r"\1f(", prototypes)).lstrip("\n")


TABLE: tuple[tuple[LibraryFunction, str], ...] = (
    # -- memory from the library
    (_allocates(Allocating.GIVES, (0,)), "void *malloc(size_t size);"),
    (_allocates(Allocating.CLEARS, (0, 1)), "void *calloc(size_t count, size_t size);"),
    (_allocates(Allocating.RESIZES, (1,)), "void *realloc(void *block, size_t size);"),
    (_allocates(Allocating.RESIZES, (1, 2)), "void *reallocarray(void *block, size_t count, size_t size);"),
    (_allocates(Allocating.GIVES, (1,)), "void *aligned_alloc(size_t alignment, size_t size);"),
    (_allocates(Allocating.COPIES), "char *strdup(const char *text);"),
    (_allocates(Allocating.TAKES), "void free(void *block);"),
    # operator new and delete
    (
        _allocates(Allocating.GIVES, (0,), may_fail=False),
        """
void *_Znwm(size_t size);
void *_Znam(size_t size);
""",
    ),
    (
        _allocates(Allocating.TAKES),
        """
void _ZdlPv(void *block);
void _ZdaPv(void *block);
void _ZdlPvm(void *block, size_t size);
void _ZdaPvm(void *block, size_t size);
""",
    ),
    (LibraryFunction(replaced=Replaced.BY_CALL), "char *strndup(const char *text, size_t count);"),
    # -- memory and text
    (LibraryFunction(meaning=Meaning.FILL), "void *memset(void *to, int value, size_t count);"),
    (LibraryFunction(meaning=Meaning.COPY), "void *memcpy(void *to, const void *from, size_t count);"),
    (LibraryFunction(meaning=Meaning.MOVE), "void *memmove(void *to, const void *from, size_t count);"),
    (
        LibraryFunction(meaning=Meaning.LENGTH, computes=Computes.TEXT, replaced=Replaced.BY_CODE),
        "size_t strlen(const char *text);",
    ),
    (
        LibraryFunction(computes=Computes.TEXT, replaced=Replaced.BY_CODE),
        """
void *memchr(const void *block, int value, size_t count);
size_t strnlen(const char *text, size_t limit);
char *strchr(const char *text, int character);
char *strrchr(const char *text, int character);
char *strstr(const char *text, const char *wanted);
size_t strspn(const char *text, const char *accepted);
size_t strcspn(const char *text, const char *rejected);
char *strpbrk(const char *text, const char *accepted);
""",
    ),
    (
        LibraryFunction(computes=Computes.TEXT),
        """
char *index(const char *text, int character);
char *rindex(const char *text, int character);
""",
    ),
    (
        LibraryFunction(computes=Computes.TEXT, only_sign=True, replaced=Replaced.BY_CODE),
        """
int memcmp(const void *left, const void *right, size_t count);
int bcmp(const void *left, const void *right, size_t count);
int strcmp(const char *left, const char *right);
int strncmp(const char *left, const char *right, size_t count);
""",
    ),
    (
        LibraryFunction(computes=Computes.TEXT, only_sign=True, uses_locale=True),
        """
int strcasecmp(const char *left, const char *right);
int strncasecmp(const char *left, const char *right, size_t count);
""",
    ),
    (
        LibraryFunction(computes=Computes.TEXT, sets_errno=True, replaced=Replaced.BY_CALL),
        """
int atoi(const char *text);
long atol(const char *text);
long long atoll(const char *text);
""",
    ),
    (
        LibraryFunction(computes=Computes.PARSER, sets_errno=True, replaced=Replaced.BY_CALL),
        """
long strtol(const char *text, char **end, int base);
long long strtoll(const char *text, char **end, int base);
unsigned long strtoul(const char *text, char **end, int base);
unsigned long long strtoull(const char *text, char **end, int base);
""",
    ),
    (
        LibraryFunction(replaced=Replaced.BY_CALL),
        """
double atof(const char *text);
double strtod(const char *text, char **end);
void *bsearch(const void *key, const void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
""",
    ),
    (
        LibraryFunction(replaced=Replaced.BY_CODE),
        """
void *mempcpy(void *to, const void *from, size_t count);
void bzero(void *to, size_t count);
char *strcpy(char *to, const char *from);
char *strncpy(char *to, const char *from, size_t count);
char *stpcpy(char *to, const char *from);
char *stpncpy(char *to, const char *from, size_t count);
char *strcat(char *to, const char *from);
char *strncat(char *to, const char *from, size_t count);
void *__memcpy_chk(void *to, const void *from, size_t count, size_t room);
void *__memmove_chk(void *to, const void *from, size_t count, size_t room);
void *__memset_chk(void *to, int value, size_t count, size_t room);
char *__strcpy_chk(char *to, const char *from, size_t room);
char *__strncpy_chk(char *to, const char *from, size_t count, size_t room);
char *__strcat_chk(char *to, const char *from, size_t room);
char *__strncat_chk(char *to, const char *from, size_t count, size_t room);
__clzdi2 __ctzdi2 __divsc3 __divti3 __mempcpy_chk __modti3 __mulsc3 __multi3 __stpcpy_chk __stpncpy_chk __udivti3
__umodti3 bcopy div frexp frexpf ldiv lldiv
""",
    ),
    # -- numbers
    (
        LibraryFunction(computes=Computes.NUMBER, sets_errno=True),
        _and_for_float("""
double sqrt(double x);
double pow(double x, double y);
double exp(double x);
double log(double x);
double sin(double x);
double cos(double x);
double fmod(double x, double y);
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
double atan2(double x, double y);
double hypot(double x, double y);
double remainder(double x, double y);
double fdim(double x, double y);
double ldexp(double x, int exponent);
double scalbn(double x, int exponent);
double scalbln(double x, long exponent);
double logb(double x);
int ilogb(double x);
double nextafter(double x, double y);
long lround(double x);
long long llround(double x);
double fma(double x, double y, double z);
"""),
    ),
    (
        LibraryFunction(computes=Computes.NUMBER),
        _and_for_float("""
double floor(double x);
double ceil(double x);
double fabs(double x);
double trunc(double x);
double rint(double x);
double nearbyint(double x);
double roundeven(double x);
double round(double x);
double copysign(double x, double y);
double fmin(double x, double y);
double fmax(double x, double y);
long lrint(double x);
long long llrint(double x);
"""),
    ),
    (
        LibraryFunction(computes=Computes.NUMBER),
        """
double __powidf2(double x, int exponent);
float __powisf2(float x, int exponent);
struct complex_double __muldc3(double a, double b, double c, double d);
struct complex_double __divdc3(double a, double b, double c, double d);
""",
    ),
    (
        LibraryFunction(computes=Computes.NUMBER, sets_errno=True, stores=((1, "sin"), (2, "cos"))),
        "void sincos(double x, double *sine, double *cosine);",
    ),
    (
        LibraryFunction(computes=Computes.NUMBER, sets_errno=True, stores=((1, "sinf"), (2, "cosf"))),
        "void sincosf(float x, float *sine, float *cosine);",
    ),
    (LibraryFunction(computes=Computes.NUMBER, stores=((1, "trunc"),)), "double modf(double x, double *whole);"),
    (LibraryFunction(computes=Computes.NUMBER, stores=((1, "truncf"),)), "float modff(float x, float *whole);"),
    (
        LibraryFunction(computes=Computes.BITS, replaced=Replaced.BY_CODE),
        """
int abs(int value);
long labs(long value);
long long llabs(long long value);
int ffs(int value);
int ffsl(long value);
int ffsll(long long value);
int __popcountdi2(unsigned long value);
int toascii(int character);
int isascii(int character);
""",
    ),
    (
        LibraryFunction(computes=Computes.BITS),
        """
long imaxabs(long value);
int __popcountsi2(unsigned value);
unsigned __bswapsi2(unsigned value);
unsigned long __bswapdi2(unsigned long value);
unsigned htonl(unsigned value);
unsigned ntohl(unsigned value);
unsigned short htons(unsigned short value);
unsigned short ntohs(unsigned short value);
""",
    ),
    (
        LibraryFunction(computes=Computes.CHARACTER, uses_locale=True),
        """
int isalnum(int character);
int isalpha(int character);
int iscntrl(int character);
int isgraph(int character);
int islower(int character);
int isprint(int character);
int ispunct(int character);
int isspace(int character);
int isupper(int character);
int isxdigit(int character);
int tolower(int character);
int toupper(int character);
int isblank(int character);
""",
    ),
    (
        LibraryFunction(computes=Computes.CHARACTER, uses_locale=True, replaced=Replaced.BY_CODE),
        "int isdigit(int character);",
    ),
    (
        LibraryFunction(result=ResultRange.NOT_NEGATIVE),
        """
int rand(void);
long random(void);
int rand_r(unsigned *seed);
""",
    ),
    # -- state of the library and of the machine
    (LibraryFunction(computes=Computes.PLACE, is_errno_place=True), "int *__errno_location(void);"),
    (
        LibraryFunction(computes=Computes.PLACE),
        """
const unsigned short **__ctype_b_loc(void);
const int **__ctype_tolower_loc(void);
const int **__ctype_toupper_loc(void);
""",
    ),
    (LibraryFunction(is_errno_place=True), "___errno_location __errno __error"),
    (LibraryFunction(sets_locale=True), "newlocale setlocale uselocale"),
    (LibraryFunction(sets_rounding=True), "feenableexcept feholdexcept fesetenv fesetmode fesetround feupdateenv"),
    (LibraryFunction(reads_exception_flags=True), "fegetenv fegetexceptflag fetestexcept"),
    # -- streams
    (
        LibraryFunction(
            format=FormatKind.PRINTF, result=ResultRange.TEXT_LENGTH, writes_text=True, replaced=Replaced.BY_CALL
        ),
        """
int printf(const char *format, ...);
int fprintf(FILE *stream, const char *format, ...);
int __printf_chk(int flag, const char *format, ...);
int __fprintf_chk(FILE *stream, int flag, const char *format, ...);
""",
    ),
    (
        LibraryFunction(format=FormatKind.PRINTF, result=ResultRange.LENGTH_IN_MEMORY, replaced=Replaced.BY_CALL),
        """
int sprintf(char *to, const char *format, ...);
int snprintf(char *to, size_t size, const char *format, ...);
int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...);
int __snprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, ...);
""",
    ),
    (
        LibraryFunction(format=FormatKind.PRINTF),
        """
int dprintf(int descriptor, const char *format, ...);
int asprintf(char **to, const char *format, ...);
__asprintf_chk __dprintf_chk syslog warn warnx
""",
    ),
    (
        LibraryFunction(format=FormatKind.SCANF),
        """
int scanf(const char *format, ...);
int fscanf(FILE *stream, const char *format, ...);
int sscanf(const char *text, const char *format, ...);
__isoc23_fscanf __isoc23_scanf __isoc23_sscanf __isoc99_fscanf __isoc99_scanf __isoc99_sscanf
""",
    ),
    (
        LibraryFunction(writes_text=True, replaced=Replaced.BY_CALL),
        """
int puts(const char *text);
int fputs(const char *text, FILE *stream);
""",
    ),
    (
        LibraryFunction(result=ResultRange.CHARACTER_OR_END, writes_text=True, replaced=Replaced.BY_CALL),
        """
int putchar(int character);
int putc(int character, FILE *stream);
int fputc(int character, FILE *stream);
""",
    ),
    (
        LibraryFunction(result=ResultRange.CHARACTER_OR_END, replaced=Replaced.BY_CALL),
        """
int getchar(void);
int getc(FILE *stream);
int fgetc(FILE *stream);
""",
    ),
    (LibraryFunction(result=ResultRange.CHARACTER_OR_END), "int ungetc(int character, FILE *stream);"),
    (
        LibraryFunction(result=ResultRange.AT_MOST_COUNT, writes_text=True, replaced=Replaced.BY_CALL),
        "size_t fwrite(const void *from, size_t size, size_t count, FILE *stream);",
    ),
    (
        LibraryFunction(result=ResultRange.AT_MOST_COUNT),
        """
size_t fread(void *to, size_t size, size_t count, FILE *stream);
ssize_t read(int descriptor, void *to, size_t count);
ssize_t write(int descriptor, const void *from, size_t count);
ssize_t pread(int descriptor, void *to, size_t count, off_t offset);
ssize_t pwrite(int descriptor, const void *from, size_t count, off_t offset);
ssize_t send(int descriptor, const void *from, size_t count, int flags);
ssize_t recv(int descriptor, void *to, size_t count, int flags);
""",
    ),
    (
        LibraryFunction(replaced=Replaced.BY_CALL),
        """
int vprintf(const char *format, va_list arguments);
int vfprintf(FILE *stream, const char *format, va_list arguments);
_IO_getc __uflow feof_unlocked ferror_unlocked fgetc_unlocked fputc_unlocked fputs_unlocked fwrite_unlocked
getc_unlocked getchar_unlocked printf_unlocked putchar_unlocked puts_unlocked
""",
    ),
    # -- how they return
    (
        LibraryFunction(never_returns=True),
        """
void abort(void);
void exit(int status);
void _exit(int status);
void _Exit(int status);
void quick_exit(int status);
void __stack_chk_fail(void);
void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function);
_Unwind_Resume _ZSt9terminatev __assert __assert_perror_fail __chk_fail __cxa_bad_cast __cxa_bad_typeid
__cxa_pure_virtual __fortify_fail __longjmp_chk __stack_chk_fail_local _longjmp longjmp pthread_exit siglongjmp
thrd_exit verr verrx
""",
    ),
    (LibraryFunction(never_returns=True, format=FormatKind.PRINTF), "err errx"),
    (LibraryFunction(never_returns=True, throws=True), "__cxa_rethrow __cxa_throw"),
    (LibraryFunction(throws=True), "_Unwind_RaiseException _Unwind_Resume_or_Rethrow"),
    (LibraryFunction(returns_twice=True), "getcontext savectx setjmp sigsetjmp vfork"),
    # -- what they take and return, and nothing else
    (
        LibraryFunction(),
        """
int posix_memalign(void **block, size_t alignment, size_t size);
void *memrchr(const void *block, int value, size_t count);
void *memmem(const void *block, size_t size, const void *wanted, size_t wanted_size);
size_t strlcpy(char *to, const char *from, size_t size);
size_t strlcat(char *to, const char *from, size_t size);
int strcoll(const char *left, const char *right);
char *strchrnul(const char *text, int character);
char *strtok(char *text, const char *separators);
char *strtok_r(char *text, const char *separators, char **state);
char *strsep(char **text, const char *separators);
char *strerror(int number);
float strtof(const char *text, char **end);
int vsprintf(char *to, const char *format, va_list arguments);
int vsnprintf(char *to, size_t size, const char *format, va_list arguments);
char *fgets(char *to, int size, FILE *stream);
ssize_t getline(char **line, size_t *size, FILE *stream);
FILE *fopen(const char *path, const char *mode);
FILE *fdopen(int descriptor, const char *mode);
FILE *freopen(const char *path, const char *mode, FILE *stream);
int fclose(FILE *stream);
int fflush(FILE *stream);
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
int atexit(void (*function)(void));
int system(const char *command);
char *getenv(const char *name);
int setenv(const char *name, const char *value, int overwrite);
int unsetenv(const char *name);
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
void srand(unsigned seed);
void srandom(unsigned seed);
time_t time(time_t *to);
clock_t clock(void);
int pthread_mutex_lock(void *mutex);
int pthread_mutex_unlock(void *mutex);
""",
    ),
)
"""Functions with the same properties together: prototypes, and names of functions whose prototype is not known. Names
of functions that return twice are without the underscores that they may have in front."""
