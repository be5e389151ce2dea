// SPDX-License-Identifier: Apache-2.0
// In the head, so that nothing flashes: what was chosen last, else what the system prefers. Paper
// is always light.
"use strict";

const theme = (() => {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const print = matchMedia("print");
    const listeners = [];
    let choice = "";
    try {
        choice = localStorage.getItem("stint-theme") || "";
    } catch (error) {
        // No storage for files here: it follows the system.
    }

    function current() {
        return choice === "light" || choice === "dark" ? choice : dark.matches ? "dark" : "light";
    }

    function apply() {
        document.documentElement.dataset.theme = print.matches ? "light" : current();
        for (const listener of listeners) {
            listener();
        }
    }

    function toggle() {
        choice = current() === "dark" ? "light" : "dark";
        try {
            localStorage.setItem("stint-theme", choice);
        } catch (error) {
            // Then it lasts as long as the page.
        }
        apply();
    }

    dark.addEventListener("change", apply);
    print.addEventListener("change", apply);
    apply();
    return {current, toggle, onChange: (listener) => listeners.push(listener)};
})();
