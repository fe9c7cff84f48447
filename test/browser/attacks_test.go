package browser

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// lure is a page of an attacker, who knows the address of the console: much more than an attacker would. It tries to read it in each way
// that a page has, and says what it has read.
const lure = `<!doctype html><title>lure</title><script>
window.got = [];
const base = %q;
const note = (name) => (value) => { window.got.push(name + ": " + value); };
(async () => {
  for (const mode of ["cors", "no-cors", "same-origin"]) for (const path of ["/", "/live/", "/assets/app.js", "/icon.svg"]) {
    await fetch(base + path, {mode, credentials: "include"}).then(async (r) => { const text = await r.text(); if (r.ok || text) note("fetch " + mode + " " + path)(r.status + text); }, () => {});
  }
  await fetch(base + "/", {method: "POST", mode: "no-cors", credentials: "include", body: "x"}).catch(() => {});
  const load = (tag, set) => new Promise((done) => { const e = document.createElement(tag); e.onload = () => { if (tag !== "iframe") note(tag)("loaded"); done(); }; e.onerror = done; set(e); document.head.append(e); setTimeout(done, 3000); });
  await load("img", (e) => { e.src = base + "/icon.svg"; });
  await load("script", (e) => { e.src = base + "/assets/app.js"; e.type = "module"; });
  await load("script", (e) => { e.src = base + "/assets/chart.js"; });
  await load("link", (e) => { e.rel = "stylesheet"; e.href = base + "/assets/style.css"; });
  await new Promise((done) => { const s = new EventSource(base + "/live/", {withCredentials: true}); s.onmessage = note("events"); s.addEventListener("beat", note("events")); s.onerror = () => { s.close(); done(); }; });
  const frame = document.createElement("iframe"); frame.src = base + "/"; document.documentElement.append(frame);
  await new Promise((done) => { frame.onload = done; setTimeout(done, 3000); });
  try { if (frame.contentDocument?.body?.textContent) note("frame")(frame.contentDocument.body.textContent); } catch {}
  window.done = true;
})();
</script><form method="post" action="%s/"><input name="x" value="1"></form><a href="%s/workloads">See this</a>`

// attacker serves the lure on a port of its own, and returns the port.
func attacker(t *testing.T, base string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cookie := r.Header.Get("Cookie"); cookie != "" {
			t.Errorf("the attacker is sent the cookie %q", cookie)
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, lure, base, base, base)
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

// others lets pages of others try to read the console in the browser that is logged in.
func (w *world) others(t *testing.T) {
	c := run(t, w.as(w.admin)...)
	chrome := start(t, chromedp.Flag("host-resolver-rules", "MAP evil.example 127.0.0.1"))
	mine := c.in(chrome)
	u, err := url.Parse(c.base)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("a name that is made to point here", func(t *testing.T) {
		b := chrome.open(t)
		for _, host := range []string{"evil.example", "localhost", "127.0.0.1", "x" + u.Hostname(), "x." + u.Hostname()} {
			b.visit("http://" + host + ":" + u.Port() + "/workloads")
			if got := js[string](b, "document.body.innerText"); got != "This page has another address.\n" && got != "This page has another address." {
				t.Errorf("%s shows %q", host, got)
			}
		}
	})
	port := attacker(t, c.base)
	for _, host := range []string{"evil.example", "localhost", "other.localhost", "127.0.0.1"} {
		t.Run("a page of "+host, func(t *testing.T) {
			b := chrome.open(t)
			asked := false
			listen(b, func(e *network.EventResponseReceived) {
				if strings.HasPrefix(e.Response.URL, c.base) {
					asked = true
					if e.Response.Status < 400 {
						t.Errorf("%s is answered with %d", e.Response.URL, e.Response.Status)
					}
				}
			})
			call(b, network.Enable, network.EnableParams{})
			b.visit("http://" + host + ":" + port + "/")
			b.until("the lure to try everything", "window.done === true")
			if got := js[[]string](b, "window.got"); len(got) != 0 {
				t.Errorf("it has read %q", got)
			}
			b.mu.Lock()
			if !asked {
				t.Error("the console was not asked, so that this proves nothing")
			}
			b.mu.Unlock()
			js[bool](b, `document.querySelector("a").click(); true`)
			b.until("the page to be refused", `location.pathname === "/workloads" && document.body.innerText.startsWith("Other pages cannot read this one.")`)
			b.visit("http://" + host + ":" + port + "/")
			b.until("the lure again", "window.done === true")
			js[bool](b, `document.querySelector("form").submit(); true`)
			b.until("the form to be refused", `document.body.innerText.startsWith("Nothing can be changed here.")`)
		})
	}
	mine.visit(c.base + "/workloads")
	mine.says("deployment/web")
}

// logins tries to log in with what the user has used.
func (w *world) logins(t *testing.T) {
	c := run(t, w.as(w.admin)...)
	chrome := start(t)
	// Both browsers have the address at the same time.
	first, second := chrome.open(t), chrome.open(t, chromedp.WithNewBrowserContext())
	for _, b := range []*tab{first, second} {
		js[bool](b, "setTimeout(() => { location = "+quote(c.login)+" }, 0); true")
	}
	in := func(b *tab) bool {
		b.until("an answer", `location.protocol === "http:" && location.pathname !== "/login" && !!document.getElementById("alive") || document.body?.innerText.startsWith("This login was used already")`)
		return js[bool](b, `!!document.getElementById("alive")`)
	}
	one, two := in(first), in(second)
	if one == two {
		t.Errorf("of two browsers that use a login at the same time, the first is in: %t, the second: %t", one, two)
	}
	winner, loser := first, second
	if two {
		winner, loser = second, first
	}
	for _, b := range []*tab{loser, chrome.open(t, chromedp.WithNewBrowserContext())} {
		b.visit(c.login)
		b.says("This login was used already")
		b.visit(c.base + "/")
		b.says("Run the command again to open this page")
	}
	if got := js[string](winner, `location.href + document.referrer + JSON.stringify(performance.getEntriesByType("navigation"))`); strings.Contains(got, "token") {
		t.Errorf("the page knows the login: %s", got)
	}
	if cookie := js[string](winner, "document.cookie"); cookie != "" {
		t.Errorf("scripts can read %s", cookie)
	}
	for _, arguments := range commandLines(t) {
		if _, token, _ := strings.Cut(c.login, "token="); strings.Contains(arguments, token) {
			t.Errorf("a process shows the login to all users: %s", arguments)
		}
	}
}

// commandLines returns the arguments of all processes, which each user can read.
func commandLines(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			all = append(all, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return all
}

// opener lets the console open the browser itself, and looks at what it shows others.
func (w *world) opener(t *testing.T) {
	bin, out := t.TempDir(), filepath.Join(t.TempDir(), "opened")
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte("#!/bin/sh\necho \"$@\" > "+out+".new && mv "+out+".new "+out+"\nsleep 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, append([]string{"console", "/workloads?q=web"}, w.as(w.admin)...)...)
	cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }()
	var file string
	for deadline := time.Now().Add(*patience); file == ""; time.Sleep(20 * time.Millisecond) {
		if text, err := os.ReadFile(out); err == nil {
			file = strings.TrimSpace(string(text))
		}
		if time.Now().After(deadline) {
			t.Fatal("no browser is opened")
		}
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	login := printed.FindString(string(content))
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || login == "" {
		t.Errorf("the file has the mode %v, and the login %q: %v", info.Mode(), login, err)
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(login, "http://"), ".")
	for _, arguments := range commandLines(t) {
		if strings.Contains(arguments, host) || strings.Contains(arguments, "token=") {
			t.Errorf("a process shows the login to all users: %s", arguments)
		}
	}
	b := start(t).open(t)
	b.visit("file://" + file)
	b.until("the page to begin with", `location.pathname + location.search === "/workloads?q=web" && document.body.innerText.includes("deployment/web")`)
	b.clean("the login")
}
