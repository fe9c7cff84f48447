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
	if bright := js[[]string](b, `[...document.querySelector("#view").children].filter((e) => !e.matches(".top, .problem") && getComputedStyle(e).filter === "none").map((e) => e.outerHTML)`); len(bright) > 0 {
		b.Errorf("what it knew looks as if it were true now: %q", bright)
	}
}

// fresh waits until a page is no longer stale.
func (b *tab) fresh() {
	b.Helper()
	b.until("a page that is live again", `!document.querySelector("#view.stale") && !document.body.classList.contains("lost") && document.getElementById("alive").textContent === "Live."`)
}

// rollout replaces the server with a new one.
func (w *world) rollout(t *testing.T) {
	chrome := start(t)
	c := run(t, append(w.as(w.admin), "/workloads")...)
	b := c.in(chrome)
	b.says("deployment/web")
	overview := (&chromium{chrome.Context}).open(t)
	overview.visit(c.base + "/")
	overview.says("Needs attention")
	loads := b.documents()
	address := w.server.GRPCAddress
	if err := w.server.Stop(); err != nil {
		t.Fatal(err)
	}
	b.stale("deployment/web")
	b.picture("stale")
	overview.stale("Needs attention")
	overview.picture("stale /")
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
	c.stop()
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

// hidden stops the console while nobody sees its page.
func (w *world) hidden(t *testing.T) {
	c := run(t, append(w.as(w.admin), "/workloads")...)
	b := c.in(start(t))
	b.says("deployment/web")
	hide := func(hidden string) {
		js[bool](b, `Object.defineProperty(document, "hidden", {value: `+hidden+`, configurable: true}); document.dispatchEvent(new Event("visibilitychange")); true`)
	}
	hide("true")
	c.stop()
	hide("false")
	b.leadsNowhere("/workloads")
	b.until("the page to say that nothing answers", `document.getElementById("alive").textContent.startsWith("Stale since")`)
	c.signal(syscall.SIGCONT)
	b.fresh()

	// It goes where somebody has clicked as soon as it is heard.
	hide("true")
	c.stop()
	hide("false")
	b.leadsNowhere("/workloads")
	js[bool](b, `document.querySelector("nav a[href='/nodes']").click(); true`)
	c.signal(syscall.SIGCONT)
	b.until("the page that was clicked", `location.pathname === "/nodes"`)
	b.clean("the page")
}

// gone ends the console in each way in which people end it while pages are open. Another process may have its port after that.
func (w *world) gone(t *testing.T) {
	chrome := start(t)
	for name, signal := range map[string]syscall.Signal{"Ctrl-C": syscall.SIGINT, "a terminal that is closed": syscall.SIGHUP, "kill": syscall.SIGTERM, "kill -9": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			c := run(t, append(w.as(w.admin), "/workloads")...)
			live := c.in(&chromium{chrome.Context})
			live.says("deployment/web")
			once := (&chromium{chrome.Context}).open(t)
			once.visit(c.base + "/plans?namespace=" + namespace)
			missing := (&chromium{chrome.Context}).open(t)
			missing.visit(c.base + "/missing")
			for _, b := range []*tab{once, missing} {
				b.until("the console to be heard", `document.getElementById("alive").textContent === "This page does not change by itself."`)
			}
			c.signal(signal)
			<-c.ended
			// A shell adds 128 to the number of the signal, unless that has killed the process.
			if got, want := c.cmd.ProcessState.ExitCode(), 128+int(signal); got != want && signal != syscall.SIGKILL {
				t.Errorf("exit %d, want %d", got, want)
			}
			says := "The console ended at "
			if signal == syscall.SIGKILL {
				says = "Stale since "
			}
			for path, b := range map[string]*tab{"/workloads": live, "/plans": once, "/missing": missing} {
				b.until(path+" to say so", `document.getElementById("alive").textContent.startsWith(`+quote(says)+`)`)
				b.leadsNowhere(path)
			}
			live.picture("ended by " + name)
		})
	}
}

// leadsNowhere checks that the links and forms of a page at a path lead nowhere.
func (b *tab) leadsNowhere(path string) {
	b.Helper()
	if !js[bool](b, `{
	  const stopped = [];
	  for (const name of ["click", "submit"]) addEventListener(name, (event) => stopped.push(event.defaultPrevented), {once: true});
	  document.querySelector("nav a").click();
	  document.querySelector("form.search").requestSubmit();
	  stopped.length === 2 && stopped.every((one) => one);
	}`) {
		b.Errorf("a link or form of %s leads to the process that has the port now", path)
	}
}
