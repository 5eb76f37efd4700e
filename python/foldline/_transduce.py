"""Reducers and emitters in Python, with the built-in ones."""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Dict, Generic, Iterable, List, Protocol, Tuple, TypeVar, Union

from . import _foldline
from ._foldline import FoldlineError

State = TypeVar("State")
Item = TypeVar("Item")
Event = TypeVar("Event")
Item_contra = TypeVar("Item_contra", contravariant=True)
Event_co = TypeVar("Event_co", covariant=True)
Event_contra = TypeVar("Event_contra", contravariant=True)
Output_co = TypeVar("Output_co", covariant=True)


class Reducer(Protocol[State, Item_contra, Event_co]):
    """A pure function from a state and an item to the next state and events: no clock, no input or output."""

    def initial(self) -> State:
        """The state before the first item."""
        ...

    def reduce(self, state: State, item: Item_contra) -> Tuple[State, Iterable[Event_co]]:
        """The next state, and the events."""
        ...

    def finish(self, state: State) -> Tuple[State, Iterable[Event_co]]:
        """The last events. By default, there are none."""
        return state, ()


class Emitter(Protocol[Event_contra, Output_co]):
    """Makes outputs of events. It gets every event, in order, and does not change it."""

    def emit(self, event: Event_contra) -> Iterable[Output_co] | None:
        """The outputs that result from an event; ``None`` is none."""
        ...

    def finish(self) -> Iterable[Output_co] | None:
        """The last outputs. By default, there are none."""
        return None


class EmitterError(FoldlineError):
    """Some emitters failed. The others were not disturbed: their outputs are complete.

    An emitter that raises an exception gets no more events, as one of Rust that panics. The exceptions that are not of
    the class ``Exception``, such as ``KeyboardInterrupt``, end the whole run instead.
    """

    def __init__(self, outputs: List[Any], failures: Dict[int, Exception]) -> None:
        named = "; ".join(f"emitter {at}: {type(error).__name__}: {error}" for at, error in failures.items())
        super().__init__(f"{len(failures)} of {len(outputs)} emitters failed: {named}")
        #: The outputs of each emitter; of those that failed, the outputs before the failure.
        self.outputs = outputs
        #: The exceptions, by the position of the emitter.
        self.failures = failures


class _Guarded:
    """An emitter that gets no more events after an exception, and its outputs."""

    def __init__(self, emitter: Any) -> None:
        self.emitter = emitter
        self.outputs: Any = []
        self.failure: Exception | None = None

    def call(self, method: str, *arguments: Callable[[], Any]) -> None:
        if self.failure is not None or (method == "finish" and not hasattr(self.emitter, method)):
            return
        try:
            made = getattr(self.emitter, method)(*(argument() for argument in arguments))
            if isinstance(made, (str, bytes)):
                raise TypeError(f"{method} must return an iterable of outputs, not one text")
            made = [] if made is None else list(made)
        except Exception as error:
            self.failure = error
        else:
            self.outputs.extend(made)


class _BuiltIn:
    """A built-in emitter, for events of the domain as dictionaries."""

    def __init__(self, name: str) -> None:
        self.inner = _foldline.BuiltIn(name, "")
        self.line = 0

    def emit(self, event: Dict[str, Any]) -> None:
        self.line += 1
        # Their order matters.
        place = {"position": {"line": self.line, "offset": 0}, "session": 0}
        self.inner.emit(json.dumps({key: event.get(key, value) for key, value in place.items()} | event))

    def finish(self) -> List[bytes]:
        return [self.inner.finish()]


def _outputs(guarded: List[_Guarded]) -> List[Any]:
    outputs = [each.outputs for each in guarded]
    failures = {at: each.failure for at, each in enumerate(guarded) if each.failure is not None}
    if failures:
        raise EmitterError(outputs, failures) from next(iter(failures.values()))
    return outputs


def fan_out(
    path: Union[str, "os.PathLike[str]"], emitters: Iterable[str | Emitter[Dict[str, Any], Any]], *, executor: str = "auto"
) -> List[Any]:
    """Reads a log once, into several emitters. Returns the outputs of each.

    An emitter is the name of a built-in one (``patches``, ``events``, ``conversation``, ``transcript``, ``metrics``,
    ``audit``, ``otlp``), whose output are the bytes that ``foldline replay --format`` writes, or an object with the
    methods of :class:`Emitter`, which gets events as dictionaries of its own, and whose output is a list.

    Raises :class:`EmitterError` if emitters failed.
    """
    guarded = [_Guarded(emitter) for emitter in emitters]
    names = [each.emitter for each in guarded if isinstance(each.emitter, str)]
    own = [each for each in guarded if not isinstance(each.emitter, str)]

    def emit(event: str) -> None:
        for each in own:
            each.call("emit", lambda: json.loads(event))

    written = iter(_foldline.fan_out(os.fspath(path), executor, names, emit if own else None))
    for each in guarded:
        if isinstance(each.emitter, str):
            each.outputs, message = next(written)
            each.failure = FoldlineError(message) if each.outputs is None else None
        else:
            each.call("finish")
    return _outputs(guarded)


def transduce(
    reducer: Reducer[State, Item, Event], emitters: Iterable[str | Emitter[Event, Any]], items: Iterable[Item]
) -> List[Any]:
    """Reduces items to events, which all emitters get. Returns the outputs of each.

    The events may be anything. For built-in emitters, which are named as for :func:`fan_out`, they are dictionaries in
    the form of those of :meth:`Log.events`; ``position`` and ``session`` may be left out.

    Raises :class:`EmitterError` if emitters failed; an exception of the reducer ends the run.
    """
    guarded = [_Guarded(_BuiltIn(emitter) if isinstance(emitter, str) else emitter) for emitter in emitters]

    def emit(events: Iterable[Event]) -> None:
        for event in events:
            for each in guarded:
                each.call("emit", lambda: event)

    state = reducer.initial()
    for item in items:
        state, events = reducer.reduce(state, item)
        emit(events)
    if hasattr(reducer, "finish"):
        emit(reducer.finish(state)[1])
    for each in guarded:
        each.call("finish")
        if isinstance(each.emitter, _BuiltIn):
            each.outputs = b"".join(each.outputs)
    return _outputs(guarded)
