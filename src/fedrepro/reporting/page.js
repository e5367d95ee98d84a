// The matrix of claims: pointing at a cell, focusing or tapping it shows its statement, verdict and strip, which are in the page once.
"use strict";
(() => {
  const card = document.getElementById("card");
  const cells = [...document.querySelectorAll(".matrix .cell")];
  if (!card || !cells.length) return;
  let pinned = null;
  function show(cell) {
    const claim = document.querySelector(cell.getAttribute("href"));
    const parts = [".statement", ".verdict", ".strip", ".sentence", ".turns"].map((kind) => claim.querySelector(kind)).filter(Boolean);
    const more = Object.assign(document.createElement("a"), { href: cell.getAttribute("href"), textContent: "the claim among its paper's" });
    card.replaceChildren(...parts.map((part) => part.cloneNode(true)), more);
    card.hidden = false;
    const box = cell.getBoundingClientRect(), wide = card.offsetWidth, room = document.documentElement.clientWidth;
    const body = document.body.getBoundingClientRect(); // the card is placed in it
    card.style.left = `${Math.max(8, Math.min(box.left, room - wide - 8)) - body.left}px`;
    const below = box.bottom + 6, above = box.top - card.offsetHeight - 6;
    card.style.top = `${(below + card.offsetHeight > innerHeight && above > 0 ? above : below) - body.top}px`;
    cells.forEach((c) => c.classList.toggle("shown", c === cell));
  }
  function hide() {
    card.hidden = true;
    pinned = null;
    cells.forEach((c) => c.classList.remove("shown"));
  }
  for (const cell of cells) {
    cell.removeAttribute("title"); // the card says it
    cell.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse" && !pinned) show(cell); });
    cell.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse" && !pinned) hide(); });
    cell.addEventListener("focus", () => { if (!pinned) show(cell); });
    cell.addEventListener("blur", (event) => { if (!pinned && !card.contains(event.relatedTarget)) hide(); });
    cell.addEventListener("click", (event) => {
      event.preventDefault();
      if (pinned === cell) hide();
      else { pinned = cell; show(cell); }
    });
    cell.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) pinned = null;
      if (step) cells[(cells.indexOf(cell) + step + cells.length) % cells.length].focus();
    });
  }
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  addEventListener("pointerdown", (event) => { if (!card.contains(event.target) && !event.target.closest(".cell")) hide(); });
})();
