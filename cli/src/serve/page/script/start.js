// Begins what the page needs.

root.dataset.script = "on";
if (byId("list")) startList(byId("list"));
if (byId("feed")) startSession(byId("feed"));
if (byId("usage")) startUsage(byId("usage"), byId("asked"));
