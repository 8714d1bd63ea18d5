"""The trials of a campaign. Each has draw(random), which makes a case that JSON can hold; run(case), which counts what it did
and raises Failure where something happens that must not; and smaller(case), cases that may show the same failure."""
import copy

from ways import Failure, Folder, Refused, compare, draw_ways, reference


class Trial:
    share = 1  # of the time of a campaign

    def __init__(self, tools):
        self.tools = tools  # the drawer, the helpers, what this machine can do, the counts

    def count(self, what, number=1):
        self.tools.counts[what] = self.tools.counts.get(what, 0) + number

    def draw(self, random):
        raise NotImplementedError

    def run(self, case):
        raise NotImplementedError

    def smaller(self, case):
        yield from smaller_trainings(case)


def smaller_trainings(case):
    """Without a layer, without an option, with one epoch."""
    config = case["config"]
    for index in range(len(config["model"]["layers"])):
        smaller = copy.deepcopy(case)
        del smaller["config"]["model"]["layers"][index]
        yield smaller
    for section in ("train", "model", "checkpoint"):
        for key in config.get(section, {}):
            if key not in ("input", "layers", "loss", "every_steps"):
                smaller = copy.deepcopy(case)
                del smaller["config"][section][key]
                yield smaller


class Networks(Trial):
    """A random training in every way that this machine has: the same files, byte for byte."""
    share = 4

    def draw(self, random):
        return self.tools.drawer.training(random) | {"ways": draw_ways(random, self.tools.here, self.tools.device_share)}

    def run(self, case):
        with Folder(case) as folder:
            expected, contents = reference(folder)
            self.count("networks")
            for way in case["ways"]:
                ran = compare(folder, way, expected, contents)
                self.count("comparisons" if ran else "refused_ways")

    def smaller(self, case):
        if len(case["ways"]) > 1:
            yield from ({**case, "ways": [way]} for way in case["ways"])
        else:
            yield from smaller_trainings(case)


def reduced(trial, case, attempts=60):
    """The smallest case found that still fails. The counts of these runs are not kept."""
    counts = dict(trial.tools.counts)
    progress = True
    while progress and attempts > 0:
        progress = False
        for smaller in trial.smaller(case):
            attempts -= 1
            try:
                trial.run(smaller)
            except Failure:
                case, progress = smaller, True
                break
            except Refused:
                pass
            if attempts <= 0:
                break
    trial.tools.counts.clear()
    trial.tools.counts.update(counts)
    return case
