"""The small package behind the course "Attention, from Kernels to GPT"."""

import importlib
import sys
from importlib.machinery import ModuleSpec

__version__ = "2.0.0"

# Notebooks of the first edition import experiments from course_utils.training; some functions had another name.
_FIRST_EDITION = {
    "baselines": ("ch10_baselines", {}),
    "finetuning": ("ch10_finetuning", {}),
    "incontext": ("ch11b_incontext", {}),
    "multitask": ("ch11b_multitask", {}),
    "preference": ("ch11b_preference", {}),
    "control": ("ch12a_control", {"learn": "experiments.ch12a_control:train"}),
    "denoising": ("ch12a_denoising", {}),
    "distil": ("ch12a_distil", {}),
    "long_inputs": ("ch12a_long_inputs", {"learn": "experiments.ch12a_long_inputs:train"}),
    "relatives": (
        "ch12a_relatives",
        {
            "learn_masked": "experiments.ch12a_relatives:train_masked",
            "nats": "experiments.ch12a_relatives:held_out_nats",
        },
    ),
    "orders": ("ch12b_orders", {"letters": "text.letters:letters"}),
}


class _FirstEdition:
    """Asked after everybody else where ``course_utils.training.control`` is; answers with what it is called today."""

    def find_spec(self, name, path=None, target=None):
        room, _, module = name.rpartition(".")
        return ModuleSpec(name, self) if room == f"{__name__}.training" and module in _FIRST_EDITION else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        from pkgutil import resolve_name

        new, renamed = _FIRST_EDITION[module.__name__.rpartition(".")[2]]
        found = importlib.import_module(f"{__name__}.experiments.{new}")
        for name, place in renamed.items():
            setattr(found, name, resolve_name(f"{__name__}.{place}"))
        sys.modules[module.__name__] = found


sys.meta_path.append(_FirstEdition())
