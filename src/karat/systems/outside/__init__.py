"""Systems and answerers that are not karat's own: a function of the user's, an HTTP endpoint; asked one by one."""

from __future__ import annotations

from karat.systems.outside._answering import ANSWER_BODY, ANSWER_PATH, answerer_outside
from karat.systems.outside._asked import AskedSettings, Outside, ask_all, opened, run_of, run_of_records
from karat.systems.outside._call import CallSettings, CallSystem, ObjectSettings
from karat.systems.outside._endpoint import HttpSettings
from karat.systems.outside._http import HttpSystem
from karat.systems.outside._json_path import JsonPath
from karat.systems.outside._reply import Hit, SystemReply

__all__ = [
    "ANSWER_BODY",
    "ANSWER_PATH",
    "AskedSettings",
    "CallSettings",
    "CallSystem",
    "Hit",
    "HttpSettings",
    "HttpSystem",
    "JsonPath",
    "ObjectSettings",
    "Outside",
    "SystemReply",
    "answerer_outside",
    "ask_all",
    "opened",
    "run_of",
    "run_of_records",
]
