"""What is known of functions of the C library and of compilers, by name. What they take and return is in
`load/known.py`, what they compute in `library_values.py`.

A name means the library's function only where nothing says otherwise: see `library.is_library`.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _in_both_sizes(names: frozenset[str]) -> frozenset[str]:
    """For double, and for float."""
    return names | {f"{name}f" for name in names}


# -- functions that only compute ------------------------------------------------------------------

SET_ERRNO = _in_both_sizes(
    _words(
        "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh cbrt erf "
        "erfc pow atan2 hypot fmod remainder fdim sincos ldexp scalbn scalbln logb ilogb nextafter fma lround llround"
    )
)
"""Functions of numbers that may say in errno that there is no result."""
_COMPILERS_OWN = _words("__powidf2 __powisf2 __muldc3 __divdc3")
NUMBERS = (
    SET_ERRNO
    | _in_both_sizes(
        _words("floor ceil trunc rint nearbyint roundeven round fabs copysign fmin fmax lrint llrint modf")
    )
    | _COMPILERS_OWN
)
BITS = _words(
    "abs labs llabs imaxabs ffs ffsl ffsll __popcountsi2 __popcountdi2 __bswapsi2 __bswapdi2 htonl ntohl htons ntohs "
    "toascii isascii"
)
CHARACTERS = _words(
    "isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit toupper tolower"
)
TEXTS = _words(
    "strlen strnlen strcmp strncmp strcasecmp strncasecmp memcmp bcmp memchr strchr strrchr index rindex strstr strspn "
    "strcspn strpbrk atoi atol atoll"
)
"""Those that read memory, where their arguments point to."""
ORDERS = _words("strcmp strncmp strcasecmp strncasecmp memcmp bcmp")
"""Of these only the sign of the result is fixed: libraries and compilers choose how large it is."""
PARSERS = _words("strtol strtoll strtoul strtoull")
"""Those that read memory, and store where they stopped if their second argument is not null; they may set errno."""
PLACES = _words("__errno_location __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc")
"""Those that give the address of something that is the library's, always the same one."""

# -- state of the library that they depend on -----------------------------------------------------

ERRNO_PLACES = _words("__errno_location ___errno_location __errno __error")
"""Functions that give the address of errno, in one library or another."""
LOCALE = CHARACTERS | {"strcasecmp", "strncasecmp"}
"""Those whose results depend on the locale."""
SETS_LOCALE = _words("setlocale uselocale newlocale")
SETS_ROUNDING = _words("fesetround fesetenv feupdateenv feholdexcept fesetmode feenableexcept")
READS_EXCEPTION_FLAGS = _words("fetestexcept fegetexceptflag fegetenv")
"""The flags are set by every computation with floating-point numbers, and are not followed."""

# -- what other functions may return --------------------------------------------------------------

COUNTED = _words("printf __printf_chk fprintf __fprintf_chk")
"""They return how much they write, or a negative number."""
COUNTED_IN_MEMORY = _words("sprintf snprintf __sprintf_chk __snprintf_chk")
NOT_NEGATIVE = _words("rand random rand_r")
CHARACTER_OR_END = _words("getchar getc fgetc ungetc putchar putc fputc")
AT_MOST_COUNT = _words("read write recv send pread pwrite fread fwrite")
COUNT = 2
"""Which argument of these says how much at most."""

# -- how they return ------------------------------------------------------------------------------

RETURNS_TWICE = _words("setjmp sigsetjmp savectx vfork getcontext")
"""Names, without underscores before them, that compilers treat by name too: when such a call returns for the second
time, the frame holds what was stored after it returned first."""
THROWING = _words("__cxa_throw __cxa_rethrow _Unwind_RaiseException _Unwind_Resume_or_Rethrow")
HELPERS = ("__x86_", "__llvm_", "__morestack", "__fentry__", "mcount", "_mcount", "__rust_probestack", "__xray_")
"""How the names of helpers begin that compilers call with arguments, results or return addresses in places of their
own: retpolines and return thunks, stacks that grow, profiling at entry."""
