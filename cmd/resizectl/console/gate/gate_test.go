package gate

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"
)

// browser is what a browser has of a console.
type browser struct {
	*testing.T
	gate    *Gate
	clock   *testingclock.FakePassiveClock
	handler http.Handler
	cookie  *http.Cookie
}

// shown is what the pages answer.
const shown = "what the cluster has"

func newBrowser(t *testing.T) *browser {
	clock := testingclock.NewFakePassiveClock(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))
	g := New(8001, clock)
	return &browser{T: t, gate: g, clock: clock, handler: g.Keep(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, shown) }))}
}

// get asks for an address, with a changed request.
func (b *browser) get(url string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r, w := httptest.NewRequest(http.MethodGet, url, nil), httptest.NewRecorder()
	if b.cookie != nil {
		r.AddCookie(b.cookie)
	}
	for _, f := range change {
		f(r)
	}
	b.handler.ServeHTTP(w, r)
	return w
}

// login follows a login.
func (b *browser) login(url string) *httptest.ResponseRecorder {
	w := b.get(url, header("Sec-Fetch-Site", "cross-site"))
	for _, c := range w.Result().Cookies() {
		b.cookie = c
	}
	return w
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Add(name, value) }
}

func TestGate(t *testing.T) {
	b := newBrowser(t)
	if w := b.login(b.gate.Login("/workloads?namespace=shop")); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `content="0;url=`+b.gate.URL("/workloads?namespace=shop")+`"`) {
		t.Fatalf("the login answers %d: %s", w.Code, w.Body)
	}
	if c := b.cookie; c == nil || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Domain != "" || c.Path != "/" {
		t.Errorf("the cookie is %+v", c)
	}
	for name, tc := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"a link of the page":                 {header("Sec-Fetch-Site", "same-origin"), http.StatusOK},
		"an address that was typed":          {header("Sec-Fetch-Site", "none"), http.StatusOK},
		"a browser that does not say":        {func(*http.Request) {}, http.StatusOK},
		"a module of the page":               {header("Origin", "http://"+b.gate.host), http.StatusOK},
		"another site":                       {header("Sec-Fetch-Site", "cross-site"), http.StatusForbidden},
		"another server on this machine":     {header("Sec-Fetch-Site", "same-site"), http.StatusForbidden},
		"two claims":                         {func(r *http.Request) { r.Header["Sec-Fetch-Site"] = []string{"same-origin", "cross-site"} }, http.StatusForbidden},
		"a request of another origin":        {header("Origin", "http://evil.example"), http.StatusForbidden},
		"a request of a file":                {header("Origin", "null"), http.StatusForbidden},
		"an empty origin":                    {header("Origin", ""), http.StatusForbidden},
		"two origins":                        {func(r *http.Request) { r.Header["Origin"] = []string{"http://" + b.gate.host, "http://evil.example"} }, http.StatusForbidden},
		"the same machine by its address":    {func(r *http.Request) { r.Host = "127.0.0.1:8001" }, http.StatusMisdirectedRequest},
		"a name that points to this machine": {func(r *http.Request) { r.Host = "evil.example:8001" }, http.StatusMisdirectedRequest},
		"the name without its port":          {func(r *http.Request) { r.Host = strings.TrimSuffix(r.Host, ":8001") }, http.StatusMisdirectedRequest},
		"a name that begins like ours":       {func(r *http.Request) { r.Host = r.Host + ".evil.example" }, http.StatusMisdirectedRequest},
		"no cookie":                          {func(r *http.Request) { r.Header.Del("Cookie") }, http.StatusUnauthorized},
		"another cookie":                     {func(r *http.Request) { r.Header.Set("Cookie", cookieName+"="+secret()) }, http.StatusUnauthorized},
		"an empty cookie":                    {func(r *http.Request) { r.Header.Set("Cookie", cookieName+"=") }, http.StatusUnauthorized},
		"a form":                             {func(r *http.Request) { r.Method = http.MethodPost }, http.StatusMethodNotAllowed},
		"the question of another origin":     {func(r *http.Request) { r.Method = http.MethodOptions }, http.StatusMethodNotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			w := b.get(b.gate.URL("/workloads"), tc.change)
			if w.Code != tc.want || (w.Body.String() == shown) != (tc.want == http.StatusOK) {
				t.Errorf("it answers %d: %s", w.Code, w.Body)
			}
			for name, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'; script-src 'self';", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
				"X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin",
			} {
				if got := w.Header().Get(name); !strings.HasPrefix(got, want) {
					t.Errorf("%s is %q", name, got)
				}
			}
			if got := w.Header().Get("Access-Control-Allow-Origin"); got != "" {
				t.Errorf("it lets %s read it", got)
			}
		})
	}
}

func TestLogin(t *testing.T) {
	expect := func(t *testing.T, w *httptest.ResponseRecorder, want int) {
		t.Helper()
		if w.Code != want || (len(w.Result().Cookies()) > 0) != (want == http.StatusOK) {
			t.Errorf("it answers %d with cookies %v, want %d", w.Code, w.Result().Cookies(), want)
		}
	}
	t.Run("works once", func(t *testing.T) {
		b := newBrowser(t)
		url := b.gate.Login("/")
		expect(t, b.get(url), http.StatusOK)
		expect(t, b.get(url), http.StatusUnauthorized)
	})
	t.Run("works for one of many at the same time", func(t *testing.T) {
		b := newBrowser(t)
		url := b.gate.Login("/")
		var in atomic.Int32
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() {
				if b.get(url).Code == http.StatusOK {
					in.Add(1)
				}
			})
		}
		if wait.Wait(); in.Load() != 1 {
			t.Errorf("%d browsers are in", in.Load())
		}
	})
	t.Run("works for a minute", func(t *testing.T) {
		b := newBrowser(t)
		url := b.gate.Login("/")
		b.clock.SetTime(b.clock.Now().Add(time.Minute))
		expect(t, b.get(url), http.StatusUnauthorized)
	})
	t.Run("ends with the next one", func(t *testing.T) {
		b := newBrowser(t)
		first, second := b.gate.Login("/"), b.gate.Login("/")
		expect(t, b.get(first), http.StatusUnauthorized)
		expect(t, b.get(second), http.StatusOK)
	})
	t.Run("is not used up by a program that only looks", func(t *testing.T) {
		b := newBrowser(t)
		url := b.gate.Login("/")
		expect(t, b.get(url, func(r *http.Request) { r.Method = http.MethodHead }), http.StatusMethodNotAllowed)
		expect(t, b.get(url), http.StatusOK)
	})
	t.Run("needs its token", func(t *testing.T) {
		b := newBrowser(t)
		for _, token := range []string{"", secret()} {
			expect(t, b.get(b.gate.URL("/login?token="+token)), http.StatusUnauthorized)
		}
		url := b.gate.Login("/")
		for _, change := range []string{strings.ToUpper(url), url[:len(url)-1], url + "0"} {
			expect(t, b.get(b.gate.URL("/login?token="+change[strings.LastIndex(change, "=")+1:])), http.StatusUnauthorized)
		}
	})
	t.Run("does not outlive its process", func(t *testing.T) {
		before, after := newBrowser(t), newBrowser(t)
		before.login(before.gate.Login("/"))
		after.cookie = before.cookie
		if w := after.get(after.gate.URL("/")); w.Code != http.StatusUnauthorized {
			t.Errorf("it answers %d", w.Code)
		}
	})
}

func TestWriteLogin(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", filepath.Join(home, "none"))
	temporary, err := WriteLogin("http://x.localhost:1/")
	if err != nil || !strings.HasPrefix(temporary, os.TempDir()) {
		t.Errorf("without a home: %s, %v", temporary, err)
	}
	_ = os.RemoveAll(filepath.Dir(temporary))
	t.Setenv("HOME", home)
	path, err := WriteLogin(`http://x.localhost:1/login?token=a&b="><script>`)
	if err != nil {
		t.Fatal(err)
	}
	if within, err := filepath.Rel(home, path); runtime.GOOS == "linux" && (err != nil || strings.HasPrefix(within, ".")) {
		t.Errorf("a browser that is confined cannot read %s", path)
	}
	for of, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): os.ModeDir | 0o700} {
		if info, err := os.Stat(of); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", of, info.Mode(), err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), "<script>") || !strings.Contains(string(text), "0;url=http://x.localhost:1/login?token=a&amp;b=") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestListen(t *testing.T) {
	all, port, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		if a := l.Addr().(*net.TCPAddr); !a.IP.IsLoopback() || a.Port != port {
			t.Errorf("it listens on %s", a)
		}
	}
	if _, _, err := Listen(port); err == nil {
		t.Error("two processes listen on one port")
	}
	for _, l := range all {
		_ = l.Close()
	}
	// Another user has the port of the other address.
	six, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Logf("the machine has no other address: %v", err)
		return
	}
	defer func() { _ = six.Close() }()
	if got, _, err := Listen(six.Addr().(*net.TCPAddr).Port); err == nil {
		t.Errorf("it listens on %v only", got[0].Addr())
	}
}

// TestDefaultPort checks that pages on the port that browsers leave out can be opened.
func TestDefaultPort(t *testing.T) {
	g := New(defaultPort, testingclock.NewFakePassiveClock(time.Now()))
	login := g.Login("/")
	if strings.Contains(login, ":80") {
		t.Errorf("the address %s has the port", login)
	}
	w := httptest.NewRecorder()
	g.Keep(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, login, nil))
	if w.Code != http.StatusOK {
		t.Errorf("%s: %d %s", login, w.Code, w.Body)
	}
}
