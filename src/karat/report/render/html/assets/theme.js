// Dark or light: as the system says until the button is pressed, then as pressed for as long as the page is open,
// or the window where a server has many pages.

const darkSystem = matchMedia("(prefers-color-scheme: dark)");

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : darkSystem.matches;
}

const KEPT = "karat-theme";

/** What was pressed on another page of this window holds here. */
export function restoreTheme() {
  const before = sessionStorage.getItem(KEPT);
  if (before) document.documentElement.dataset.theme = before;
}

/** Starts the button; `stays` keeps what was pressed for the next pages of this window. */
export function startTheme(changed, stays = false) {
  const button = document.getElementById("theme");
  const name = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    if (stays) sessionStorage.setItem(KEPT, document.documentElement.dataset.theme);
    name();
    changed();
  });
  darkSystem.addEventListener("change", () => {
    name();
    changed();
  });
  name();
}
