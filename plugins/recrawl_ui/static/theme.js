"use strict";
// Airflow's UI keeps its colour mode here; without one the system's counts.
{
  let theme = null;
  try { theme = localStorage.getItem("theme"); } catch { /* storage may be forbidden */ }
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
}
