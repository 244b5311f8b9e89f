// Dark or light: as the system says until the button is pressed, then as pressed for as long as the page is open.

const darkSystem = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : darkSystem.matches;
}

function startTheme(changed) {
  const button = document.getElementById("theme");
  const name = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    name();
    changed();
  });
  darkSystem.addEventListener("change", () => {
    name();
    changed();
  });
  name();
}
