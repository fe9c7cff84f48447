package browser

import (
	"flag"
	"os"
	"syscall"
	"testing"
	"time"
)

// stale waits until a page says that it is stale, and checks that it still shows what it had.
func (b *tab) stale(shows string) {
	b.Helper()
	b.until("a stale page", `document.querySelector("#view.stale .problem")?.textContent.startsWith("Stale since")`)
	b.until("a footer that says so, too", `document.getElementById("alive").textContent === "Stale since " + document.querySelector("#view.stale .problem time").textContent + ". The top of this page says why."`)
	if !js[bool](b, "document.body.innerText.includes("+quote(shows)+")") {
		b.Error("it shows no more what it knew")
	}
	if js[string](b, `getComputedStyle(document.querySelector("#view table")).filter`) == "none" {
		b.Error("what it knew looks as if it were true now")
	}
}

// fresh waits until a page is no longer stale.
func (b *tab) fresh() {
	b.Helper()
	b.until("a page that is live again", `!document.querySelector("#view.stale") && !document.body.classList.contains("lost") && document.getElementById("alive").textContent === "Live."`)
}

// rollout replaces the server with a new one.
func (w *world) rollout(t *testing.T) {
	b := run(t, append(w.as(w.admin), "/workloads")...).in(start(t))
	b.says("deployment/web")
	loads := b.documents()
	address := w.server.GRPCAddress
	if err := w.server.Stop(); err != nil {
		t.Fatal(err)
	}
	b.stale("deployment/web")
	b.picture("stale")
	w.serve(address)
	b.fresh()
	b.says("deployment/web")
	if n := loads(); n != 0 {
		t.Errorf("the page was loaded %d times", n)
	}
	b.clean("the page")
}

// expiry lets the token of a user expire.
func (w *world) expiry(t *testing.T) {
	token := w.person(t, "expired", "cluster-admin")
	b := run(t, append(w.as(token), "/workloads")...).in(start(t))
	b.says("deployment/web")
	if err := os.WriteFile(token, []byte("expired"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.stale("deployment/web")
	b.says("provide a token with --token-file")
	w.token(t, "expired", token)
	b.fresh()
	b.clean("the page")
}

var stopFor = flag.Duration("stop", 0, "how long to stop the console after a page has noticed it")

// stopped stops the console's process for longer than the page waits, and continues it.
func (w *world) stopped(t *testing.T) {
	c := run(t, append(w.as(w.admin), "/workloads")...)
	b := c.in(start(t))
	b.says("deployment/web")
	loads := b.documents()
	c.signal(syscall.SIGSTOP)
	b.until("the page to say that nothing answers", `document.getElementById("alive").textContent.startsWith("Stale since")`)
	if js[string](b, `getComputedStyle(document.querySelector("#view")).filter`) == "none" {
		t.Error("what it knew looks as if it were true now")
	}
	b.picture("stopped")
	time.Sleep(*stopFor)
	c.signal(syscall.SIGCONT)
	b.fresh()
	if n := loads(); n != 0 {
		t.Errorf("the page was loaded %d times", n)
	}
	b.clean("the page")
}

// gone ends the console while a page is open, and lets another process answer in its place.
func (w *world) gone(t *testing.T) {
	c := run(t, append(w.as(w.admin), "/workloads")...)
	b := c.in(start(t))
	b.says("deployment/web")
	c.end()
	b.until("the page to say that the console has ended", `document.getElementById("alive").textContent.startsWith("The console has ended")`)
	js[bool](b, `document.querySelector("nav a").click(); true`)
	if got := js[string](b, "location.pathname"); got != "/workloads" {
		t.Errorf("a link leads to %s of the process that has the port now", got)
	}
	b.picture("ended")
}
