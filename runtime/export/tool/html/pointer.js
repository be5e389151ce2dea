// SPDX-License-Identifier: Apache-2.0
// Mouse, touch, wheel and keys on the timeline.
"use strict";

const pointer = (() => {
    const box = byId("lanes");
    const CLICK = 3; // pixels a click may move
    const held = new Map(); // pointers that are down: id -> x
    let drag = null; // {pan, from, last, apart}

    const xIn = (event) => event.clientX - box.getBoundingClientRect().left;
    const yIn = (event) => event.clientY - box.getBoundingClientRect().top;

    function apart() {
        const [a, b] = [...held.values()];
        return Math.max(10, Math.abs(a - b));
    }

    function down(event) {
        if (event.button > 1 || event.offsetX > box.clientWidth) {
            return; // the menu; the scroll bar
        }
        box.focus({preventScroll: true});
        box.setPointerCapture(event.pointerId);
        held.set(event.pointerId, xIn(event));
        const touch = event.pointerType === "touch";
        drag = {pan: touch || event.shiftKey || event.button === 1, from: xIn(event),
                last: xIn(event), apart: held.size === 2 ? apart() : 0, moved: false};
        tip.hide();
    }

    function pinch() {
        const [a, b] = [...held.values()];
        const now = apart();
        timeline.zoom(drag.apart / now, (a + b) / 2);
        drag.apart = now;
        drag.moved = true;
    }

    function move(event) {
        const x = xIn(event);
        if (!held.has(event.pointerId)) {
            hover(event);
            return;
        }
        held.set(event.pointerId, x);
        drag.moved = drag.moved || Math.abs(x - drag.from) > CLICK;
        if (held.size === 2 && drag.apart) {
            pinch();
        } else if (drag.pan && drag.moved) {
            timeline.pan(drag.last - x);
        } else if (drag.moved) {
            timeline.mark([drag.from, Math.max(0, Math.min(timeline.width, x))]);
        }
        drag.last = x;
    }

    function up(event) {
        if (!held.delete(event.pointerId) || held.size) {
            return;
        }
        timeline.mark(null);
        if (!drag.moved && event.type === "pointerup") {
            choose(event);
        } else if (!drag.pan && event.type === "pointerup") {
            const ends = [drag.from, Math.max(0, Math.min(timeline.width, xIn(event)))];
            timeline.show(timeline.timeOf(Math.min(...ends)), timeline.timeOf(Math.max(...ends)));
        }
        drag = null;
    }

    function choose(event) {
        const found = timeline.find(xIn(event), yIn(event));
        if (found && found.kind === "span") {
            selection.select(selection.find(lanes.name(found.name)));
        }
        if (event.pointerType === "touch") {
            hover(event);
        }
    }

    function hover(event) {
        const found = timeline.find(xIn(event), yIn(event));
        if (!found) {
            tip.hide();
            return;
        }
        tip.show(event.clientX, event.clientY, ...timeline.describe(found));
    }

    // Ours with Ctrl (a pinch on a touch pad comes as that), sideways, or after a click in here;
    // else the page scrolls on as if we were not there.
    function wheel(event) {
        const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
        const zooms = event.ctrlKey || event.metaKey || document.activeElement === box;
        if (!sideways && !zooms || event.altKey) {
            return;
        }
        event.preventDefault();
        const lines = event.deltaMode === 1 ? 18 : 1;
        if (sideways) {
            timeline.pan((event.deltaX || event.deltaY) * lines);
        } else {
            const speed = event.ctrlKey && Math.abs(event.deltaY) < 50 ? 0.01 : 0.0022;
            timeline.zoom(Math.exp(event.deltaY * lines * speed), xIn(event));
        }
    }

    function key(event) {
        const middle = timeline.width / 2;
        const step = timeline.width / 5;
        const actions = {
            ArrowLeft: () => timeline.pan(-step), a: () => timeline.pan(-step),
            ArrowRight: () => timeline.pan(step), d: () => timeline.pan(step),
            "+": () => timeline.zoom(0.5, middle), "=": () => timeline.zoom(0.5, middle),
            w: () => timeline.zoom(0.5, middle),
            "-": () => timeline.zoom(2, middle), s: () => timeline.zoom(2, middle),
            "0": () => timeline.show(0, lanes.end), Home: () => timeline.show(0, lanes.end),
            Escape: () => box.blur(),
        };
        if (!event.ctrlKey && !event.metaKey && !event.altKey && actions[event.key]) {
            actions[event.key]();
            event.preventDefault();
        }
    }

    function fit(event) {
        const found = timeline.find(xIn(event), yIn(event));
        if (found && found.kind === "span") {
            const room = (found.end - found.start) * 0.05;
            timeline.show(found.start - room, found.end + room);
        } else {
            timeline.show(0, lanes.end);
        }
    }

    // The overview: its window goes where it is pressed.
    function steer(event) {
        if (event.buttons) {
            const at = event.offsetX / timeline.width * lanes.end;
            const half = (timeline.view.b - timeline.view.a) / 2;
            const a = Math.max(0, Math.min(lanes.end - 2 * half, at - half));
            timeline.show(a, a + 2 * half);
        }
    }

    function listen() {
        box.addEventListener("pointerdown", down);
        box.addEventListener("pointermove", move);
        box.addEventListener("pointerup", up);
        box.addEventListener("pointercancel", up);
        box.addEventListener("pointerleave", tip.hide);
        box.addEventListener("wheel", wheel, {passive: false});
        box.addEventListener("dblclick", fit);
        box.addEventListener("keydown", key);
        box.addEventListener("scroll", timeline.draw);
        const overview = byId("overview");
        overview.addEventListener("pointerdown", (event) => {
            overview.setPointerCapture(event.pointerId);
            steer(event);
        });
        overview.addEventListener("pointermove", steer);
        byId("time-in").addEventListener("click", () => timeline.zoom(0.5, timeline.width / 2));
        byId("time-out").addEventListener("click", () => timeline.zoom(2, timeline.width / 2));
        byId("time-all").addEventListener("click", () => timeline.show(0, lanes.end));
        selection.onChange(timeline.draw);
        theme.onChange(timeline.paint);
        new ResizeObserver(timeline.draw).observe(box);
    }

    function start() {
        if (!lanes.list.length) {
            byId("time-tools").hidden = byId("time-help").hidden = true;
            byId("time-box").replaceChildren(el("p", {className: "empty"},
                "No trace was kept in this run. Set ", el("code", {textContent: "STINT_TRACE=64M"}),
                " to record one."));
            return;
        }
        byId("lanes-space").style.height = lanes.height + "px";
        const spans = run.lanes.reduce((n, lane) => n + ((lane.spans || []).length >> 2), 0);
        box.setAttribute("aria-label", "Timeline of " + lanes.list.length + " lanes, " +
            format.count(spans) + " spans over " + format.time(lanes.end));
        listen();
        timeline.draw();
    }

    return {start};
})();
