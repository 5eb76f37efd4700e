// Time: the session as it was at any moment. The server says what a moment shows; here is one put in place of
// another, and what both have stays as it is.

function timeTravel(session) {
  const { feed } = session;
  const slider = byId("time");
  const play = byId("play");
  const made = new WeakMap(); // the HTML that an element was made of
  let wanted; // what is to be asked next; of several moves only the last one counts
  let isAsking = false;
  let playing;
  let side = { at: 0, moment: undefined }; // when and of which moment the side column was shown

  session.isPast = () => root.dataset.time === "past";
  session.moment = undefined; // the number of the moment that is shown, if that is not the present

  // -- what a moment shows ----------------------------------------------------------------------------------

  function showParts(parts) {
    feed.setAttribute("aria-busy", "true");
    const wants = new Set(parts);
    const replaced = new Map();
    for (const element of [...feed.children]) {
      if (wants.has(made.get(element))) continue;
      if (element.id) replaced.set(element.id, element);
      element.remove();
    }
    // Entries keep their order, so that what is left is in the order of the new ones.
    let next = feed.firstElementChild;
    for (const part of parts) {
      if (next && made.get(next) === part) {
        next = next.nextElementSibling;
        continue;
      }
      const element = parse(part).firstElementChild;
      made.set(element, part);
      const old = replaced.get(element.id);
      if (old) session.keepOpen(old, element);
      feed.insertBefore(element, next);
    }
    session.watchGaps();
    feed.setAttribute("aria-busy", "false");
  }

  function showLater(offset, length) {
    const from = length > 0 ? (1000 * offset) / length : 1000;
    byId("later").setAttribute("x", from);
    byId("later").setAttribute("width", 1000 - from);
  }

  let settling;
  function show({ moment, last, offset, length, words, shown }, hasMoved) {
    if (moment >= last) return session.toPresent();
    session.moment = moment;
    slider.max = length;
    if (!hasMoved) slider.value = offset;
    slider.setAttribute("aria-valuetext", words);
    byId("moment").textContent = words;
    showLater(offset, length);
    if (shown) {
      showParts(shown.parts);
      session.showFacts(shown.about, shown.side);
      if (shown.side !== null) side = { at: performance.now(), moment };
      session.toEnd();
    }
    // The address is a link to the moment; it is not changed with every one that is passed.
    clearTimeout(settling);
    settling = setTimeout(() => {
      if (!session.isPast() || playing) return;
      if (side.moment !== moment) return ask({ moment });
      history.replaceState(null, "", `${location.pathname}?moment=${moment}`);
      byId("news").textContent = words;
    }, 400);
  }

  // -- asking -------------------------------------------------------------------------------------------------

  async function askAll() {
    isAsking = true;
    try {
      while (wanted) {
        const question = wanted;
        wanted = undefined;
        if (question.step && session.moment !== undefined) question.moment = session.moment;
        if (question.offset !== undefined) {
          if (session.moment !== undefined) question.has = session.moment;
          // The side column follows more slowly.
          question.is_brief = performance.now() - side.at < 1000;
        }
        const answer = await fetch(`${session.path}/past?${new URLSearchParams(question)}`);
        if (!answer.ok) throw new Error(`a moment: ${answer.status}`);
        const past = await answer.json();
        if (!session.isPast()) return;
        // The reader may have moved on: then this is not what is wanted any more.
        if (!wanted || wanted.step) show(past, question.offset !== undefined);
      }
    } finally {
      isAsking = false;
    }
  }

  function ask(question) {
    root.dataset.time = "past";
    session.live.checked = false;
    wanted = question;
    if (isAsking) return;
    askAll().catch((error) => {
      console.error(error);
      pause();
      byId("news").textContent = "the moment could not be read";
    });
  }

  const stepTo = (step) => {
    pause();
    ask({ step });
  };

  session.toPresent = () => {
    pause();
    wanted = undefined;
    session.moment = undefined;
    session.news = 0;
    root.dataset.time = "live";
    session.live.checked = true;
    slider.value = slider.max;
    slider.setAttribute("aria-valuetext", "now");
    history.replaceState(null, "", location.pathname);
    session.showBehind();
    session.reconnect();
  };

  // The times below the map, and what is in the bar that the pointer is on.
  function showHours() {
    const hours = byId("map").querySelector("[data-hours]")?.dataset.hours.split("|") ?? [];
    byId("hours").replaceChildren(...hours.map((hour) => Object.assign(document.createElement("span"), { textContent: hour })));
  }
  showHours();
  const hint = slider.title;
  slider.addEventListener("pointermove", ({ offsetX }) => {
    const place = `${Math.floor((200 * offsetX) / slider.clientWidth)},`;
    const bar = byId("map").querySelector(".bars")?.dataset.bars.split(" ").find((it) => it.startsWith(place));
    const [, entries, failures] = bar?.split(",") ?? [];
    const words = entries && `${entries} ${entries === "1" ? "entry" : "entries"}${failures ? `, ${failures} failed` : ""}`;
    slider.title = words ? `${words}. ${hint}` : hint;
  });

  session.showMap = (map, length) => {
    byId("map").replaceChildren(...parseSvg(map));
    showHours();
    slider.max = length;
    slider.disabled = length === 0;
    if (!session.isPast()) slider.value = length;
    else showLater(+slider.value, length);
  };

  // -- playing ----------------------------------------------------------------------------------------------------

  function showPlaying(symbol, what) {
    play.title = what;
    play.querySelector("use").setAttribute("href", `#i-${symbol}`);
    play.querySelector(".vh").textContent = what;
  }

  function pause() {
    clearInterval(playing);
    playing = undefined;
    showPlaying("play", "Play");
  }

  function togglePlay() {
    if (playing) return pause();
    if (slider.disabled) return;
    let at = session.isPast() ? +slider.value : 0;
    let before = performance.now();
    const tick = () => {
      const now = performance.now();
      at += (now - before) * +byId("speed").value;
      before = now;
      if (at >= +slider.max) return session.toPresent();
      slider.value = at;
      ask({ offset: Math.floor(at) });
    };
    playing = setInterval(tick, 100);
    showPlaying("wait", "Pause");
    tick();
  }

  slider.addEventListener("input", () => {
    pause();
    if (+slider.value >= +slider.max) session.toPresent();
    else ask({ offset: slider.value });
  });
  // A millisecond more or less is no step for a person.
  const arrows = { ArrowLeft: "before", ArrowDown: "before", ArrowRight: "next", ArrowUp: "next" };
  slider.addEventListener("keydown", (event) => {
    const step = arrows[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (step === "before" || session.isPast()) stepTo(step);
  });
  play.addEventListener("click", togglePlay);
  byId("to-bad-before").addEventListener("click", () => stepTo("failure_before"));
  byId("to-next-bad").addEventListener("click", () => stepTo("next_failure"));
  feed.addEventListener("click", (event) => {
    if (!event.target.closest(".past-end a")) return;
    event.preventDefault();
    session.toPresent();
  });
  Object.assign(keys, {
    ",": () => stepTo("before"),
    ".": () => session.isPast() && stepTo("next"),
    s: togglePlay,
  });

  if (feed.dataset.moment !== undefined) ask({ moment: feed.dataset.moment });
}

// Elements of a drawing, which are of another kind than those of a page.
function parseSvg(markup) {
  return parse(`<svg>${markup}</svg>`).firstElementChild.childNodes;
}
