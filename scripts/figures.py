"""Writes tables of measured times into documents: see scripts/figures, which measures.

Every table is a function from the benchmark's JSON files to a headline, the heads of the columns, and rows of cells.
"""

import json
import re
import shutil
import sys
import textwrap
from pathlib import Path

RADIUS_IN_SIGMAS = 3

# The width of a line of text in the documents.
WIDTH = 130

DIRECT_2D, SEPARABLE, BILINEAR = "direct, 2-D", "separable", "separable, bilinear taps"
RENDER, MIXED, COMPUTE = "render passes", "as on cameras", "compute passes"


class Missing(Exception):
    """The reason why a table cannot be made."""


class Results:
    """The results of one run of the benchmark."""

    def __init__(self, path, is_software=False):
        if not path.exists():
            raise Missing(f"there is no {path}")
        results = json.loads(path.read_text())
        self.about, self.rows = results["about"], results["rows"]
        if self.about["is_software"] != is_software:
            raise Missing(f"{path} is not of a {'software rasteriser' if is_software else 'hardware GPU'}")

    def only(self, **wanted):
        """The rows with these values."""
        rows = [row for row in self.rows if all(row[key] == value for key, value in wanted.items())]
        if not rows:
            raise Missing(f"nothing was measured with {wanted}")
        return rows

    def median(self, sigma, **wanted):
        """One time in microseconds, or None if the benchmark skipped that run."""
        rows = [row for row in self.rows if all(row[key] == value for key, value in dict(wanted, sigma=sigma).items())]
        return rows[0]["median_us"] if rows else None

    def copy(self, method, **wanted):
        """The median time of a copy over all sigmas: a copy does not depend on sigma."""
        times = sorted(row["median_us"] for row in self.only(method=method, **wanted))
        return times[len(times) // 2]

    def gpu(self):
        """The GPU, its driver and the commit."""
        about = self.about
        return f"{about['adapter']}, driver {about['driver']}, commit {about['commit'] or 'unknown'}"


def copy_of(method):
    """The copy by the same kind of pass."""
    return "copy-compute" if method in ("naive-compute", "ours-compute", "profile-compute") else "copy-fragment"


def cell(microseconds, unit=1):
    return "" if microseconds is None else f"{microseconds / unit:.0f}"


def radii(sigmas):
    """The heads of the columns."""
    first, *rest = [f"{RADIUS_IN_SIGMAS * sigma:g}" for sigma in sigmas]
    return [f"radius {first}", *rest]


def bold(name):
    return f"**this crate, {name}**"


def cost(folder):
    results = Results(folder / "cost.json")
    sigmas = [2, 4, 8, 16, 32, 128, 256]
    methods = {
        "direct-2d": f"{DIRECT_2D} (render)",
        "separable": f"{SEPARABLE} (render)",
        "separable-bilinear": f"{BILINEAR} (render)",
        "ours-fragment": bold(RENDER),
        "ours-mixed": bold(MIXED),
        "naive-compute": f"{SEPARABLE} (compute)",
        "ours-compute": bold(COMPUTE),
    }
    what = dict(size="1920x1080", format="rgba16float")
    rows = [
        [name, cell(results.copy(copy_of(method), **what))]
        + [cell(results.median(sigma, method=method, **what)) for sigma in sigmas]
        for method, name in methods.items()
    ]
    head = f"Microseconds for a 1920x1080 `rgba16float` image, medians of {results.about['runs']} runs"
    return f"{head}; {results.gpu()}:", ["copy", *radii(sigmas)], rows


def cost_sizes(folder):
    edges = {edge: Results(folder / f"cost-sizes-{edge}.json") for edge in ("clamp", "mirror", "wrap")}
    clamp = edges["clamp"]
    if any(results.gpu() != clamp.gpu() for results in edges.values()):
        raise Missing("the edge modes were measured on different GPUs or at different commits")
    sigmas = [2, 3, 4, 8, 32, 128, 512]
    rows = []
    for size in ("3840x2160", "256x256", "64x64"):
        what = dict(size=size, format="rgba16float")
        copy = cell(clamp.copy("copy-compute", **what))

        def slowest(modes, sigma):
            times = [edges[mode].median(sigma, method="ours-compute", **what) for mode in modes]
            return cell(max((time for time in times if time is not None), default=None))

        rows.append([size, copy] + [slowest(["clamp"], sigma) for sigma in sigmas])
        rows.append(["`Mirror` or `Wrap`", copy] + [slowest(["mirror", "wrap"], sigma) for sigma in sigmas])
    head = f"Microseconds for `rgba16float` images by compute passes, medians of {clamp.about['runs']} runs"
    return f"{head}; {clamp.gpu()}:", ["copy", *radii(sigmas)], rows


def profile(folder):
    results = Results(folder / "profile.json")
    sigmas = [2, 8, 32, 128]
    what = dict(size="3840x2160", format="rgba16float")
    rows = []
    for kind, name in {"compute": COMPUTE, "mixed": MIXED, "fragment": RENDER}.items():
        for method, name in {f"ours-{kind}": name, f"profile-{kind}": "with a profile"}.items():
            rows.append([name] + [cell(results.median(sigma, method=method, **what)) for sigma in sigmas])
    head = f"Microseconds for a 3840x2160 `rgba16float` image, medians of {results.about['runs']} runs, where the share of "
    head += f"the radius falls to 0 from the bottom to the top; {results.gpu()}:"
    return head, radii(sigmas), rows


def span(numbers):
    """The least and the greatest of some ratios, as text."""
    digits = 2 if max(numbers) < 0.1 else 1
    least, greatest = [f"{number:.{digits}f}" for number in (min(numbers), max(numbers))]
    return least if least == greatest else f"{least} to {greatest}"


def glass(folder):
    results = Results(folder / "glass.json")
    settings = {
        "1 of 5 %": "one pane of 5 %",
        "36 of 1 %": "36 panes of 1 %",
        "1 of 100 %": "one pane over everything",
    }
    lenses = {
        "1 of 100 %, lens": "the same as a lens",
        "1 of 100 %, lens, dispersion": "the same as a lens with dispersion",
        "1 of 100 %, all rim": "the same as a lens without a flat middle",
        "1 of 100 %, all rim, dispersion": "the same with dispersion",
    }
    columns = [(size, format) for size in ("3840x2160", "1920x1080") for format in ("rgba16float", "rgba8unorm")]

    def ratios(setting, method, size, format):
        what = dict(method=method, size=size, format=format)
        camera = {row["sigma"]: row["median_us"] for row in results.only(setting="camera blur", **what)}
        return span([row["median_us"] / camera[row["sigma"]] for row in results.only(setting=setting, **what)])

    rows = [
        [name + suffix] + [ratios(setting, method, *column) for column in columns]
        for method, suffix, settings in (
            ("ours-mixed", "", settings),
            ("ours-fragment", ", render passes", settings | lenses),
        )
        for setting, name in settings.items()
    ]
    sigmas = sorted({row["sigma"] for row in results.rows})
    head = f"1.0 is the blur of the whole camera, by compute passes where nothing else is said, sigma {sigmas[0]:g} to "
    head += f"{sigmas[-1]:g}, medians of {results.about['runs']} runs; {results.gpu()}:"
    return head, [f"{size} `{format}`" for size, format in columns], rows


def filters(folder):
    results = Results(folder / "filters.json")
    settings = {
        "1 of 5 %": "one of 5 %",
        "50 of 0.5 %": "50 of 0.5 %",
        "1 of 25 %": "one of 25 %",
    }
    columns = [(method, sigma) for method in ("ours-mixed", "ours-fragment") for sigma in (2, 8)]

    def time(setting, method, sigma):
        return results.only(setting=setting, method=method, sigma=sigma)[0]["median_us"]

    def row(name, setting, suffix):
        beyond = [time(setting + suffix, *column) - time(setting + ", plain nodes", *column) for column in columns]
        return [name, *(f"{us:.0f}" for us in beyond)]

    rows = [row(name, setting, ", blurred") for setting, name in settings.items()]
    rows.append(row("one of 25 %, faded", "1 of 25 %", ", faded"))
    rows.append(["the whole camera", *(f"{time('camera blur', *column):.0f}" for column in columns)])
    names = {"ours-mixed": "", "ours-fragment": f", {RENDER}"}
    head = f"Microseconds beyond the nodes themselves, 1920x1080 `rgba16float`, medians of {results.about['runs']} runs; "
    return head + f"{results.gpu()}:", [f"radius {3 * sigma}{names[method]}" for method, sigma in columns], rows


def software(folder):
    results = Results(folder / "software.json", is_software=True)
    sigmas = [1, 2, 4, 8, 32, 128]
    methods = {
        "separable": f"{SEPARABLE} (render)",
        "separable-bilinear": f"{BILINEAR} (render)",
        "ours-fragment": bold(RENDER),
        "ours-compute": bold(COMPUTE),
    }
    rows = []
    for format in ("rgba16float", "rgba8unorm"):
        prefix = f"`{format}`: "
        for method, name in methods.items():
            what = dict(size="1280x720", format=format)
            times = [cell(results.median(sigma, method=method, **what), 1000) for sigma in sigmas]
            rows.append([prefix + name, cell(results.copy(copy_of(method), **what), 1000), *times])
            prefix = ""
    head = f"Milliseconds for a 1280x720 image, medians of {results.about['runs']} runs; {results.gpu()}:"
    return head, ["copy", *radii(sigmas)], rows


TABLES = {"cost": cost, "cost-sizes": cost_sizes, "profile": profile, "glass": glass, "filters": filters, "software": software}


def markdown(head, columns, rows):
    first = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    head = textwrap.fill(head, WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join([head, "", *first, *(f"| {' | '.join(row)} |" for row in rows)])


def put(path, name, text):
    """Puts a table between its markers in a file. Returns whether the file has any."""
    begin, end = f"<!-- figures:{name} -->", f"<!-- /figures:{name} -->"
    old = path.read_text()
    if old.count(begin) != old.count(end):
        raise Missing(f"{path}: {begin} and {end} do not pair")
    new = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}\n{text}\n{end}", old, flags=re.DOTALL)
    if new != old:
        path.write_text(new)
    return begin in old


def write(name, folder, documents):
    """Makes one table and puts it into every document that has its markers."""
    text = markdown(*TABLES[name](folder))
    paths = [documents / "README.md", *sorted((documents / "docs").glob("*.md"))]
    places = [path for path in paths if path.exists() and put(path, name, text)]
    if not places:
        raise Missing("no document has its markers")
    if name == "cost" and (folder / "cost.svg").exists():
        shutil.copyfile(folder / "cost.svg", documents / "assets/cost.svg")
        places.append(documents / "assets/cost.svg")
    print(f"figures: {name}: {', '.join(str(path.relative_to(documents)) for path in places)}")


def main():
    folder, documents, *names = sys.argv[1:]
    written = 0
    for name in names:
        try:
            write(name, Path(folder), Path(documents))
            written += 1
        except Missing as reason:
            print(f"figures: skipped {name}: {reason}", file=sys.stderr)
    if not written:
        sys.exit("figures: no table was written")


if __name__ == "__main__":
    main()
