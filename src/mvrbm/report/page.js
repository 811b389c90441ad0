"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);

  // Every text of the data goes in as text, never as markup.
  const make = (name, text, className) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };

  const unpack = (packed, bytes) => {
    const raw = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
    const view = new DataView(raw.buffer);
    const read = { 1: (at) => raw[at], 2: (at) => view.getUint16(at, true), 4: (at) => view.getUint32(at, true) }[bytes];
    return Array.from({ length: raw.length / bytes }, (_, n) => read(n * bytes));
  };

  const drawMap = () => {
    const canvas = $("people");
    const context = canvas.getContext("2d");
    const x = unpack(data.x, 2), y = unpack(data.y, 2), rows = unpack(data.rows, 4);
    const n = x.length;
    const which = data.questions.map(() => null);
    const answersTo = (q) => (which[q] ??= unpack(data.questions[q].which, data.questions[q].bytes));
    const byX = Array.from(x.keys()).sort((a, b) => x[a] - x[b]);
    let question = data.first, view = 0, only = null, person = null, size = 0;

    const levelOf = (who) => data.questions[question].views[view].of[answersTo(question)[who]];
    const MARGIN = 14;
    const wide = () => size - 2 * MARGIN;
    const tall = () => 2 * MARGIN + data.tall * wide();
    const place = (who) => [size / 2 + (x[who] / 65535 - 0.5) * wide(), tall() / 2 + (0.5 - y[who] / 65535) * wide()];
    const radius = () => Math.max(1.3, Math.min(5, (size / 620) * 2.6 * Math.sqrt(4000 / Math.max(n, 400))));

    const draw = () => {
      const colours = data.questions[question].views[view].colours;
      const scale = window.devicePixelRatio || 1;
      size = canvas.clientWidth || 600;
      canvas.width = Math.round(size * scale);
      canvas.height = Math.round(tall() * scale);
      context.setTransform(scale, 0, 0, scale, 0, 0);
      const r = radius();
      const dot = (who, level) => {
        const [px, py] = place(who);
        const there = level >= 0;
        const faded = only !== null && only !== level;
        context.globalAlpha = faded ? 0.08 : there ? 0.85 : 0.3;
        context.fillStyle = there ? colours[level] : "#9aa0aa";
        context.beginPath();
        context.arc(px, py, there ? r : 0.75 * r, 0, 2 * Math.PI);
        context.fill();
      };
      const level = Array.from({ length: n }, (_, who) => levelOf(who));
      level.forEach((own, who) => { if (own < 0 || (only !== null && own !== only)) dot(who, own); });
      level.forEach((own, who) => { if (own >= 0 && (only === null || own === only)) dot(who, own); });
      context.globalAlpha = 1;
      canvas.dataset.drawn = `${question}/${view}/${only ?? "all"}`;
      index();
      if (person !== null) point(person);
    };

    // People by squares of the map, to find the nearest to the pointer.
    let squares = new Map();
    const SQUARE = 24;
    const key = (px, py) => Math.floor(px / SQUARE) + 1000 * Math.floor(py / SQUARE);
    const index = () => {
      squares = new Map();
      for (let who = 0; who < n; who++) {
        const own = key(...place(who));
        if (squares.has(own)) squares.get(own).push(who); else squares.set(own, [who]);
      }
    };
    const nearest = (px, py) => {
      let best = null, least = SQUARE * SQUARE;
      for (let dx = -1; dx <= 1; dx++) for (let dy = -1; dy <= 1; dy++) {
        for (const who of squares.get(key(px + dx * SQUARE, py + dy * SQUARE)) || []) {
          const [ox, oy] = place(who);
          const far = (ox - px) ** 2 + (oy - py) ** 2;
          if (far < least) { least = far; best = who; }
        }
      }
      return best;
    };

    const legend = () => {
      const own = data.questions[question].views[view];
      const counts = new Array(own.names.length + 1).fill(0);
      for (let who = 0; who < n; who++) counts[(levelOf(who) + counts.length) % counts.length]++;
      const entries = own.names.map((name, level) => [name, own.colours[level], level]);
      entries.push(["no answer", "#9aa0aa", -1]);
      $("legend").replaceChildren(...entries.filter(([, , level]) => counts[(level + counts.length) % counts.length]).map(([name, colour, level]) => {
        const button = make("button");
        button.type = "button";
        button.setAttribute("aria-pressed", String(only === level));
        const dot = make("i");
        dot.style.background = colour;
        const number = counts[(level + counts.length) % counts.length];
        button.append(dot, make("span", name), make("small", `${Math.round((1000 * number) / n) / 10}%`));
        button.addEventListener("click", () => { only = only === level ? null : level; draw(); legend(); });
        const item = make("li");
        item.append(button);
        return item;
      }));
    };

    const entry = (q) => [make("dt", data.questions[q].name), make("dd", data.questions[q].answers[answersTo(q)[person]] || "no answer")];
    const show = (who) => {
      if (who === person) return;
      person = who;
      $("person-hint").textContent = `Row ${rows[who] + 1} of the table`;
      const chosen = make("div", undefined, "chosen");
      chosen.append(...entry(question));
      const list = [chosen];
      data.questions.forEach((other, q) => {
        if (q !== question && other.answers[answersTo(q)[who]]) list.push(...entry(q));
      });
      $("person").replaceChildren(...list);
      $("person").scrollTop = 0;
      point(who);
    };
    const point = (who) => {
      const [px, py] = place(who);
      const ring = $("ring"), tip = $("tip");
      ring.hidden = tip.hidden = false;
      ring.style.left = `${px}px`;
      ring.style.top = `${py}px`;
      tip.replaceChildren(make("b", data.questions[question].answers[answersTo(question)[who]] || "no answer"), make("br"), make("span", `Row ${rows[who] + 1}`));
      tip.style.left = px < size / 2 ? `${px + 14}px` : "auto";
      tip.style.right = px < size / 2 ? "auto" : `${size - px + 14}px`;
      tip.style.top = py < tall() / 2 ? `${py + 10}px` : "auto";
      tip.style.bottom = py < tall() / 2 ? "auto" : `${tall() - py + 10}px`;
    };
    const leave = () => { $("ring").hidden = $("tip").hidden = true; };

    const views = () => {
      const all = data.questions[question].views;
      $("view").replaceChildren(...all.map((own, n) => new Option(own.title || "the answer", String(n))));
      $("view-choice").hidden = all.length < 2;
    };
    const change = () => {
      const before = person;
      only = person = null;
      draw();
      legend();
      if (before !== null) { show(before); leave(); }
    };

    const groups = new Map();
    data.questions.forEach((own, q) => {
      if (!groups.has(own.group)) {
        const group = make("optgroup");
        group.label = own.group;
        groups.set(own.group, group);
      }
      groups.get(own.group).append(new Option(own.name, String(q)));
    });
    $("question").append(...groups.values());
    $("question").value = String(question);

    $("question").addEventListener("change", (event) => { question = Number(event.target.value); view = 0; views(); change(); });
    $("view").addEventListener("change", (event) => { view = Number(event.target.value); change(); });
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      const who = nearest(event.clientX - box.left, event.clientY - box.top);
      if (who === null) leave(); else { show(who); point(who); }
    };
    canvas.addEventListener("pointermove", at);
    canvas.addEventListener("pointerdown", at);
    canvas.addEventListener("pointerleave", leave);
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const now = person === null ? -1 : byX.indexOf(person);
      show(byX[(now + step + n) % n]);
    });
    new ResizeObserver(() => { if (canvas.clientWidth && canvas.clientWidth !== size) draw(); }).observe(canvas);
    views();
    change();
  };

  // The two questions of a square of the heat map.
  const readHeatMap = () => {
    const picture = document.querySelector("svg.heat");
    if (!picture) return;
    const names = Array.from(picture.querySelectorAll("text.end"), (own) => own.textContent.replace(/\s+\d+$/, ""));
    const told = $("heat-told");
    const { left, top, cell, n } = picture.dataset;
    const at = (event) => {
      const box = picture.getBoundingClientRect();
      const scale = picture.viewBox.baseVal.width / box.width;
      const column = Math.floor(((event.clientX - box.left) * scale - left) / cell);
      const row = Math.floor(((event.clientY - box.top) * scale - top) / cell);
      const inside = column >= 0 && row >= 0 && column < n && row < n && row !== column;
      told.textContent = inside ? `${names[row]} and ${names[column]}` : "";
    };
    picture.addEventListener("pointermove", at);
    picture.addEventListener("pointerdown", at);
  };

  // On paper nothing is folded away.
  const folded = [];
  window.addEventListener("beforeprint", () => {
    for (const own of document.querySelectorAll("details:not([open])")) { own.open = true; folded.push(own); }
  });
  window.addEventListener("afterprint", () => { while (folded.length) folded.pop().open = false; });

  if (data.questions && data.x.length) drawMap();
  readHeatMap();
})();
