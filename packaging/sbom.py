#!/usr/bin/env python3
"""Prints the bill of materials of the program for a target, in CycloneDX 1.6: packaging/sbom.py TARGET"""

import json
import subprocess
import sys


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(target):
    metadata = run("cargo", "metadata", "--locked", "--format-version", "1", "--all-features", "--filter-platform", target)
    metadata = json.loads(metadata)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    program = next(id for id, package in packages.items() if package["name"] == "foldline-cli")
    # What is built into the program: neither tests nor tools of the build.
    used, next_ids = set(), [program]
    while next_ids:
        id = next_ids.pop()
        if id in used:
            continue
        used.add(id)
        for dependency in nodes[id]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                next_ids.append(dependency["pkg"])

    def component(id):
        package = packages[id]
        name, version = package["name"], package["version"]
        described = {"type": "library", "bom-ref": id.split("/")[-1], "name": name, "version": version}
        described["purl"] = f"pkg:cargo/{name}@{version}"
        if package["license"]:
            described["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        return described

    components = sorted((component(id) for id in used - {program}), key=lambda it: (it["name"], it["version"]))
    for described in components:
        described["bom-ref"] = described["purl"]
    root = component(program) | {"type": "application", "name": "foldline", "bom-ref": "foldline"}
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": root}, "components": components}
    json.dump(bill, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main(sys.argv[1])
