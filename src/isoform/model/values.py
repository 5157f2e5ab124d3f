"""`dataclass`, as in the standard library, but made in a third of the time.

The standard one compiles six methods per class from text, which for the classes of isoform takes longer than a small
question. Here one method is compiled, `__init__`; the others are closures. `fields`, `replace` and `field` are those of
the standard library, and work as they do there. The re-check of certificates does not use this module, nor any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    from collections.abc import Callable, Sequence
    from dataclasses import MISSING, Field, FrozenInstanceError
    from operator import attrgetter
    from reprlib import recursive_repr
    from typing import Any

    _Get = Callable[[Any], tuple[Any, ...]]

    def dataclass(cls: type | None = None, /, *, frozen: bool = False, eq: bool = True, **others: Any) -> Any:
        """As `dataclasses.dataclass`; other options than `frozen` and `eq` are passed on to that."""

        def made(cls: type) -> type:
            if others or any(_is_frozen_elsewhere(base) for base in cls.__mro__[1:]):
                return dataclasses.dataclass(cls, frozen=frozen, eq=eq, **others)
            return _made(cls, frozen, eq)

        return made if cls is None else made(cls)

    def _is_frozen_elsewhere(base: type) -> bool:
        """The standard library requires that all bases are frozen, or none. Here it sees no bases."""
        parameters = base.__dict__.get("__dataclass_params__")
        return parameters is not None and parameters.frozen

    def _made(cls: type, frozen: bool, eq: bool) -> type:
        if not cls.__doc__:
            cls.__doc__ = f"{cls.__name__}(…)"  # else the signature is put there, which takes as long as all the rest
        own_hash = cls.__dict__.get("__hash__", MISSING)
        is_hashed = own_hash is not MISSING and not (own_hash is None and "__eq__" in cls.__dict__)
        dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
        fields = dataclasses.fields(cls)
        methods: dict[str, Any] = {"__repr__": _repr([field.name for field in fields if field.repr])}
        if "__init__" not in cls.__dict__:
            methods["__init__"] = _init(cls, frozen)
        if eq:
            get = _getter([field.name for field in fields if field.compare])
            methods["__eq__"] = _eq(get)
        for name, method in methods.items():
            if name not in cls.__dict__:
                method.__qualname__ = f"{cls.__qualname__}.{name}"
                setattr(cls, name, method)
        if eq and not is_hashed:
            cls.__hash__ = _hash(get) if frozen else None
        if frozen:
            cls.__setattr__, cls.__delattr__ = _refuse_setting, _refuse_deleting
        return cls

    def _getter(names: Sequence[str]) -> _Get:
        if len(names) > 1:
            return attrgetter(*names)
        if not names:
            return lambda value: ()
        one = attrgetter(names[0])
        return lambda value: (one(value),)

    def _eq(get: _Get) -> Callable[[Any, object], Any]:
        def __eq__(self: Any, other: object) -> Any:  # noqa: N807 (it becomes that method)
            return get(self) == get(other) if other.__class__ is self.__class__ else NotImplemented

        return __eq__

    def _hash(get: _Get) -> Callable[[Any], int]:
        def __hash__(self: Any) -> int:  # noqa: N807
            return hash(get(self))

        return __hash__

    def _repr(names: Sequence[str]) -> Callable[[Any], str]:
        @recursive_repr()
        def __repr__(self: Any) -> str:  # noqa: N807
            shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
            return f"{self.__class__.__qualname__}({shown})"

        return __repr__

    def _refuse_setting(self: Any, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_deleting(self: Any, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _init(cls: type, frozen: bool) -> Callable[..., None]:
        """Fields are set in order; factories are called for each object."""
        fields = dataclasses.fields(cls)
        names: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
        taken = [field for field in fields if field.init]
        plain = [_parameter(field, names) for field in taken if not field.kw_only]
        named = [_parameter(field, names) for field in taken if field.kw_only]
        body = [_setting(field, frozen) for field in fields if field.init or field.default_factory is not MISSING]
        for field in fields:
            names[f"_factory_{field.name}"] = field.default_factory
        if hasattr(cls, "__post_init__"):
            body.append("self.__post_init__()")
        arguments = ", ".join(["self", *plain, *(["*", *named] if named else [])])
        text = f"def __init__({arguments}):\n " + "\n ".join(body or ["pass"])
        exec(text, names)
        names["__init__"].__annotations__ = {field.name: field.type for field in taken} | {"return": None}
        return names["__init__"]

    def _parameter(field: Field[Any], names: dict[str, Any]) -> str:
        if field.default is not MISSING:
            names[f"_default_{field.name}"] = field.default
            return f"{field.name}=_default_{field.name}"
        return f"{field.name}=_missing" if field.default_factory is not MISSING else field.name

    def _setting(field: Field[Any], frozen: bool) -> str:
        name, value = field.name, field.name
        if not field.init:
            value = f"_factory_{name}()"
        elif field.default_factory is not MISSING:
            value = f"_factory_{name}() if {name} is _missing else {name}"
        return f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}"
