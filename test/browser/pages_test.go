package browser

import (
	"fmt"
	"strings"
	"testing"
)

// hostile is what somebody writes who hopes that a page runs it.
const hostile = `<img src=x onerror="alert(1)"><script>alert(2)</script>`

// subjects are the addresses of all pages, with what each has to show.
func subjects(w *world, t *testing.T) []struct{ path, says string } {
	return []struct{ path, says string }{
		{"/setup", "x9"},
		{"/", "Authored"},
		{"/workloads", "deployment/web"},
		{"/workloads?namespace=" + namespace + "&order=pods+desc", "deployment/web"},
		{"/workloads/" + namespace + "/Deployment/web", "Requests and savings in the last 30 days"},
		{"/pods/" + namespace + "/" + w.pod(t), "Why, step by step"},
		{"/nodes", "n2d (baseline)"},
		{"/nodes?type=n4", "How fast n4 is"},
		{"/nodes/n4-0", "agent-"},
		{"/plans", "Nothing is changed"},
		{"/plans?plan=1&ratios=n4%3D1.1", "pods"},
		{"/history", hostile},
		{"/history?kind=revert", "No entries match"},
		{"/search?q=web", "deployment/web"},
		{"/search?q=", "Type or paste"},
		{"/none", "There is no such page"},
	}
}

// pages opens each page in light and dark, wide and narrow.
func (w *world) pages(t *testing.T) {
	b := run(t, w.as(w.admin)...).in(start(t))
	base := js[string](b, "location.origin")
	b.clean("the login")
	for i, page := range subjects(w, t) {
		if i == 1 { // Pods that are paused need no ratio, so that /setup comes first. The first answers have nothing of these yet.
			w.resizectl(t, "pause", "-n", namespace, "--reason", hostile, "--yes")
			defer w.resizectl(t, "resume", "-n", namespace, "--yes")
			b.visit(base + "/history")
			b.until("an entry", `document.querySelector(".entry") !== null`)
			b.until("times with their days", `[...document.querySelectorAll(".entry .when time")].every((e) => /^today \d|\d{4}/.test(e.textContent))`)
			b.visit(base + "/")
			b.until("charts", `document.querySelectorAll("figure canvas").length >= 2`)
		}
		t.Run(strings.TrimPrefix(page.path, "/"), func(t *testing.T) {
			b := &tab{TB: t, ctx: b.ctx}
			b.listen()
			for _, scheme := range []string{"light", "dark"} {
				for _, width := range []int64{1280, 390} {
					what := fmt.Sprintf("%s %d %s", scheme, width, page.path)
					b.scheme(scheme)
					b.size(width, 900)
					b.visit(base + page.path)
					b.says(page.says)
					if over := js[int](b, "document.documentElement.scrollWidth"); over > int(width) {
						t.Errorf("%s: the page is %d pixels wide: %s", what, over, js[string](b, widest))
					}
					b.accessible(what)
					b.picture(what)
					if page.path == "/none" { // The browser reports that it is missing.
						b.reported()
					}
					b.clean(what)
				}
			}
		})
	}
}

// widest names the elements that are wider than the window.
const widest = `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth && !e.closest(".scroll > *"))
  .map((e) => e.localName + "." + e.className).slice(0, 5).join(", ")`
