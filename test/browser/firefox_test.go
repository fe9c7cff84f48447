package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// firefox is a running Firefox, driven by its own protocol, Marionette.
type firefox struct {
	testing.TB
	conn net.Conn
	in   *bufio.Reader
	id   int
	// left are the times, in milliseconds since 1970, from when it was told to leave a page until it had the next one.
	left [][2]int64
}

// startFirefox starts Firefox for a test.
func startFirefox(t *testing.T) *firefox {
	t.Helper()
	profile := t.TempDir()
	address, err := localcluster.FreeAddress("")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(address)
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(`user_pref("marionette.port", `+port+`);`), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "firefox-esr", "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", profile)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // Also the processes of its pages.
		_ = cmd.Wait()
	})
	f := &firefox{TB: t}
	localcluster.Eventually(t, "Firefox", func() (err error) {
		f.conn, err = net.Dial("tcp", address)
		return err
	})
	t.Cleanup(func() { _ = f.conn.Close() })
	f.in = bufio.NewReader(f.conn)
	_ = f.read() // It says what it is.
	f.call("WebDriver:NewSession", map[string]any{})
	return f
}

// read reads a message: its length, a colon and JSON.
func (f *firefox) read() json.RawMessage {
	f.Helper()
	if err := f.conn.SetDeadline(time.Now().Add(*patience)); err != nil {
		f.Fatal(err)
	}
	length, err := f.in.ReadString(':')
	if err != nil {
		f.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSuffix(length, ":"))
	if err != nil {
		f.Fatal(err)
	}
	message := make([]byte, n)
	if _, err := io.ReadFull(f.in, message); err != nil {
		f.Fatal(err)
	}
	return message
}

// call sends a command, and returns its result.
func (f *firefox) call(command string, params map[string]any) json.RawMessage {
	f.Helper()
	f.id++
	message, err := json.Marshal([]any{0, f.id, command, params})
	if err != nil {
		f.Fatal(err)
	}
	if _, err := fmt.Fprintf(f.conn, "%d:%s", len(message), message); err != nil {
		f.Fatal(err)
	}
	var answer [4]json.RawMessage
	if err := json.Unmarshal(f.read(), &answer); err != nil {
		f.Fatal(err)
	}
	if string(answer[2]) != "null" {
		f.Fatalf("%s: %s", command, answer[2])
	}
	return answer[3]
}

// visit leads to a page.
func (f *firefox) visit(address string) {
	f.Helper()
	from := time.Now().UnixMilli()
	f.call("WebDriver:Navigate", map[string]any{"url": address})
	f.left = append(f.left, [2]int64{from, time.Now().UnixMilli()})
}

// text returns the text that a script returns.
func (f *firefox) text(script string) string {
	f.Helper()
	var result struct{ Value string }
	if err := json.Unmarshal(f.call("WebDriver:ExecuteScript", map[string]any{"script": script, "args": []any{}}), &result); err != nil {
		f.Fatalf("%s: %v", script, err)
	}
	return result.Value
}

// says waits until the page has some text.
func (f *firefox) says(text string) {
	f.Helper()
	localcluster.Eventually(f, "the page to say "+text, func() error {
		if shown := f.text("return location.href + document.body.innerText"); !strings.Contains(shown, text) {
			return fmt.Errorf("it says %s", shown)
		}
		return nil
	})
}

// inFirefox looks at the pages with Firefox.
func (w *world) inFirefox(t *testing.T) {
	c := run(t, w.as(w.admin)...)
	f := startFirefox(t)
	f.visit(c.login)
	f.says("Live.")
	for _, page := range subjects(w, t) {
		if page.path == "/none" {
			continue
		}
		if page.path == "/history" { // It may be empty.
			page.says = "Kind"
		}
		f.visit(c.base + page.path)
		f.says(page.says)
		if got := f.text(`return "" + document.querySelectorAll("time[datetime]:empty").length + (document.fonts.status || "")`); !strings.HasPrefix(got, "0") {
			t.Errorf("%s has %s times without text", page.path, got)
		}
	}
	f.visit(c.base + "/")
	f.says("Live.")
	localcluster.Eventually(t, "the charts", func() error {
		if got := f.text(`return "" + document.querySelectorAll("figure canvas").length`); got != "4" {
			return fmt.Errorf("it draws %s", got)
		}
		return nil
	})
	w.scale(t, 5)
	defer w.scale(t, 4)
	f.visit(c.base + "/workloads?q=api")
	localcluster.Eventually(t, "the new pod", func() error {
		if got := f.text("return " + podsOfAPI + " ?? ''"); got != "5" {
			return fmt.Errorf("the page shows %s pods", got)
		}
		return nil
	})
	// The console of Firefox has what the policy of a page has prevented, too. That older releases do not know a directive is no problem, nor
	// that a page loses its connection while it is left.
	left, err := json.Marshal(f.left)
	if err != nil {
		t.Fatal(err)
	}
	f.call("Marionette:SetContext", map[string]any{"value": "chrome"})
	reported := f.text(`const left = ` + string(left) + `;
	  return Services.console.getMessageArray().map((m) => { try { m.QueryInterface(Ci.nsIScriptError); return { at: m.timeStamp, text: m.sourceName + " " + m.errorMessage }; } catch { return { at: 0, text: "" }; } })
	  .filter(({ at, text }) => text.includes(` + quote(strings.TrimPrefix(c.base, "http://")) + `) && !/unknown directive .(require-trusted-types-for|trusted-types)/.test(text)
	    && !(/was interrupted while the page was loading|establish a connection to the server at .*\/live\//.test(text) && left.some(([from, to]) => from <= at && at <= to)))
	  .map(({ at, text }) => at + " " + text).join("\n")`)
	if reported != "" {
		t.Errorf("Firefox has reported, while pages were left at %s:\n%s", left, reported)
	}
}
