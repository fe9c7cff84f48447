package browser

import (
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// press presses a key, or types text, into what has the focus.
func (b *tab) press(keys string) {
	b.Helper()
	if err := chromedp.Do(b.ctx, chromedp.KeyEvent(keys)); err != nil {
		b.Fatal(err)
	}
}

// slash presses the key for the search. Unlike press, it lets the page keep the character out of fields.
func (b *tab) slash(focuses string) {
	b.Helper()
	b.until("the page to be live", `document.getElementById("alive").textContent === "Live."`)
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: "/", Code: "Slash", Text: "/"})
	}
	b.until("the focus in the field", "document.activeElement.matches("+quote(focuses)+`) && document.activeElement.value === ""`)
}

// documents counts the documents that a tab loads from now on.
func (b *tab) documents() (count func() int) {
	loads := 0
	listen(b, func(e *network.EventRequestWillBeSent) {
		if e.Type == network.ResourceTypeDocument {
			loads++
		}
	})
	call(b, network.Enable, network.EnableParams{})
	return func() int {
		b.mu.Lock()
		defer b.mu.Unlock()
		return loads
	}
}

// podsOfAPI is a script that returns the cell with the number of pods of deployment/api.
const podsOfAPI = `[...document.querySelectorAll("tbody tr")].find((r) => r.textContent.includes("deployment/api"))?.cells[2].textContent`

// live changes the cluster while somebody looks at a page.
func (w *world) live(t *testing.T) {
	b := run(t, append(w.as(w.admin), "/workloads?order=pods+desc")...).in(start(t))
	b.size(1280, 420) // The page is longer.
	b.until("all pods of deployment/api", podsOfAPI+` === "4"`)
	b.until("all pods of the samples", `document.querySelectorAll("tbody tr").length === 6`)
	loads := b.documents()
	js[bool](b, `window.field = document.querySelector("main [name=q]"); field.focus(); true`)
	b.press("typed")
	js[bool](b, `field.setSelectionRange(1, 3); scrollTo(0, 40);
	  window.row = [...document.querySelectorAll("tbody tr")].find((r) => r.textContent.includes("deployment/api"));
	  document.querySelector(".scroll").scrollLeft = 7; true`)
	scrolled := js[[]float64](b, `[scrollY, document.querySelector(".scroll").scrollLeft]`)
	w.scale(t, 9)
	defer w.scale(t, 4)
	b.until("the new pods", podsOfAPI+` === "9"`)
	if !js[bool](b, `row.isConnected && row === document.querySelector("tbody tr")`) {
		t.Error("the row with most pods is not the first, or was made again")
	}
	if !js[bool](b, `document.activeElement === field && field.value === "typed" && field.selectionStart === 1 && field.selectionEnd === 3`) {
		t.Error("the focus, what was typed or its selection is lost")
	}
	if got := js[[]float64](b, `[scrollY, document.querySelector(".scroll").scrollLeft]`); scrolled[0] == 0 || got[0] != scrolled[0] || got[1] != scrolled[1] {
		t.Errorf("the page is scrolled to %v, before %v", got, scrolled)
	}
	js[bool](b, `getSelection().selectAllChildren([...document.querySelectorAll("tbody td")].find((c) => c.textContent.includes("deployment/web"))); true`)
	w.scale(t, 8)
	b.until("a pod less", podsOfAPI+` === "8"`)
	if got := js[string](b, "getSelection().toString().trim()"); got != "deployment/web" {
		t.Errorf("%q is selected", got)
	}
	if n := loads(); n != 0 {
		t.Errorf("the page was loaded %d times", n)
	}
	b.clean("the page")
}

// filters uses forms, keys and links as people do, and looks at the addresses.
func (w *world) filters(t *testing.T) {
	c := run(t, w.as(w.admin)...)
	b := c.in(start(t))
	at := func(want string) {
		t.Helper()
		b.until(want, "location.pathname + location.search === "+quote(want)+` && document.readyState === "complete"`)
	}
	loads := b.documents()
	b.slash("[data-search]")
	b.press(w.pod(t) + "\r")
	b.says("deployment/web")
	js[bool](b, `document.querySelector(".matches a").click(); true`)
	at("/pods/" + namespace + "/" + w.pod(t))
	b.says("Why, step by step")

	b.visit(c.base + "/workloads")
	b.until("a live page", `document.getElementById("alive").textContent === "Live."`)
	before := loads()
	js[bool](b, `document.querySelector("main [name=q]").focus(); true`)
	b.press("DB\r")
	at("/workloads?q=DB")
	b.says("1 of 1 workloads that match")
	js[bool](b, `{ const s = document.querySelector("[name=decision]"); s.value = "aligned"; s.dispatchEvent(new Event("change", {bubbles: true})); } true`)
	at("/workloads?q=DB&decision=aligned")
	if got := js[string](b, `document.querySelector("main [name=q]").value + document.querySelector("[name=decision]").value`); got != "DBaligned" {
		t.Errorf("the form has %s", got)
	}
	b.until("the links of the rows that match", `[...document.querySelectorAll("th a")].every((a) => a.search.includes("decision=aligned"))`)
	js[bool](b, `[...document.querySelectorAll("th a")].find((a) => a.textContent === "Pods").click(); true`)
	at("/workloads?decision=aligned&order=pods+desc&q=DB")
	b.until("the other order", `document.querySelector("th[aria-sort=descending]")?.textContent === "Pods"`)
	if got := js[string](b, `document.querySelector("[name=order]").value`); got != "pods desc" {
		t.Errorf("the form has the order %q", got)
	}

	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		call(b, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{Permission: &cdpbrowser.PermissionDescriptor{Name: name}, Setting: cdpbrowser.PermissionSettingGranted})
	}
	js[bool](b, `document.querySelector("h1 ~ button[data-copy]").click(); true`)
	b.until("the button to say that it has copied", `document.querySelector("h1 ~ button").textContent === "Copied"`)
	copied := js[string](b, "navigator.clipboard.readText()")
	if want := " console '/workloads?decision=aligned&order=pods+desc&q=DB'"; !strings.HasPrefix(copied, "resizectl --server='"+w.server.GRPCAddress+"'") || !strings.HasSuffix(copied, want) {
		t.Errorf("the button has copied %s", copied)
	}
	b.until("the button as before", `document.querySelector("h1 ~ button").textContent === "Copy link"`)

	js[bool](b, "history.back(); true")
	at("/workloads?q=DB&decision=aligned")
	b.until("the order before", `document.querySelector("th[aria-sort]")?.textContent === "Workload" && document.querySelector("[name=order]").value === ""`)
	js[bool](b, "history.go(-2); true")
	at("/workloads")
	b.until("all workloads", `document.querySelectorAll("tbody tr").length === 6 && document.querySelector("main [name=q]").value === ""`)
	b.size(1280, 420) // The page is longer.
	js[bool](b, `{ scrollTo(0, 40); const f = document.querySelector("main [name=q]"); f.value = "DB"; f.form.requestSubmit(); } true`)
	b.until("the rows that match, read aloud", `document.getElementById("news").textContent.startsWith("1 to 1 of 1 workloads that match")`)
	js[bool](b, `{ const a = document.querySelector("main form a"); a.focus(); a.click(); } true`)
	b.until("all workloads, from the top, with the focus in them", `document.querySelectorAll("tbody tr").length === 6 && scrollY === 0 && document.activeElement.id === "main"`)
	js[bool](b, "history.go(-2); true")
	b.until("all workloads, where they were", `location.search === "" && document.querySelectorAll("tbody tr").length === 6 && scrollY === 40`)
	if n := loads() - before; n != 0 {
		t.Errorf("other views of the page loaded it %d times", n)
	}
	b.clean("the pages")
}

// keyboard goes through a page with the tabulator only.
func (w *world) keyboard(t *testing.T) {
	b := run(t, w.as(w.admin)...).in(start(t))
	b.press("\t")
	if got := js[string](b, "document.activeElement.textContent"); got != "Skip to content" {
		t.Errorf("the first stop is %q", got)
	}
	if !js[bool](b, "document.activeElement.getBoundingClientRect().left >= 0") {
		t.Error("it is not visible")
	}
	b.press("\r")
	b.until("the focus in the content", `location.hash === "#main" && document.activeElement.id === "main"`)
	seen := map[string]bool{}
	for range 60 {
		b.press("\t")
		at := js[string](b, `(document.activeElement.getAttribute("href") ?? document.activeElement.dataset.copy ?? document.activeElement.className) + ""`)
		if js[bool](b, `document.activeElement === document.body`) {
			break
		}
		if js[string](b, `getComputedStyle(document.activeElement).outlineStyle`) == "none" {
			t.Errorf("%s has the focus, and does not show it", at)
		}
		seen[at] = true
	}
	for _, want := range []string{"/workloads?decision=aligned&reason=AlreadyAligned", "scroll"} {
		if !seen[want] {
			t.Errorf("the keyboard does not reach %s, only %v", want, seen)
		}
	}
}

// ratio sets the ratio of a node type while somebody looks at it.
func (w *world) ratio(t *testing.T) {
	b := run(t, append(w.as(w.admin), "/nodes?type=x9")...).in(start(t))
	b.says("No source has a ratio for it.")
	w.resizectl(t, "ratios", "set", "x9=1.1/1", "--create", "--reason", "test", "--yes")
	b.until("the ratio on the scale", `document.querySelector(".scale circle")?.getBoundingClientRect().width > 0`)
	w.resizectl(t, "ratios", "delete", "x9", "--yes")
	b.says("No source has a ratio for it.")
	b.clean("the page")
}
