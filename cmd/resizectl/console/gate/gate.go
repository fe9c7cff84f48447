package gate

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	// cookieName is the name of the cookie. The prefix __Host- would need https.
	cookieName = "console"
	// loginPath is the only path that works without the cookie.
	loginPath = "/login"
	// defaultPort is the port that browsers leave out of addresses.
	defaultPort = 80
	// LoginWithin is how long a login works, once.
	LoginWithin = time.Minute
)

// Gate passes on the requests of the one browser that has logged in.
type Gate struct {
	// host is the host name of the pages with the port: 128 random bits under localhost, which browsers resolve to this machine.
	host, cookie string
	clock        clock.PassiveClock

	mu sync.Mutex
	// token lets a browser log in until then, to see a path; it is empty if none may.
	token, path string
	until       time.Time
}

// New returns a gate for pages on a port.
func New(port int, c clock.PassiveClock) *Gate {
	host := secret() + ".localhost"
	if port != defaultPort {
		host += ":" + strconv.Itoa(port)
	}
	return &Gate{host: host, cookie: secret(), clock: c}
}

// secret returns 128 random bits.
func secret() string {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // It never fails.
	return hex.EncodeToString(bits[:])
}

// URL returns the address of a path, which begins with a slash. It is of no use to anybody without the cookie.
func (g *Gate) URL(path string) string { return "http://" + g.host + path }

// Login returns an address with which one browser can log in, once, within a minute, and that leads to a path. It makes the one before
// useless.
func (g *Gate) Login(path string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.token, g.path, g.until = secret(), path, g.clock.Now().Add(LoginWithin)
	return g.URL(loginPath + "?token=" + g.token)
}

// spend reports whether a token lets a browser log in, and where it leads. It does so once.
func (g *Gate) spend(token string) (path string, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.token == "" || !g.clock.Now().Before(g.until) || !same(token, g.token) {
		return "", false
	}
	g.token = ""
	return g.path, true
}

// same compares secrets in a time that tells nothing about them.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// Keep returns a handler that passes requests on to the pages if they come from them, in the browser that has logged in.
func (g *Gate) Keep(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		harden(w.Header())
		switch {
		case r.Host != g.host: // Another name may have been made to point to this machine.
			refuse(w, http.StatusMisdirectedRequest, "This page has another address.")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "Nothing can be changed here.")
		case r.URL.Path == loginPath:
			g.login(w, r)
		case g.foreign(r):
			refuse(w, http.StatusForbidden, "Other pages cannot read this one.")
		case !g.knows(r):
			refuse(w, http.StatusUnauthorized, "Run the command again to open this page: its login was used already, or its process has ended.")
		default:
			pages.ServeHTTP(w, r)
		}
	})
}

// foreign reports whether another page has made a request. An address that the user has typed, or opened from the history, is none.
func (g *Gate) foreign(r *http.Request) bool {
	if origin, has := r.Header["Origin"]; has && (len(origin) != 1 || origin[0] != "http://"+g.host) {
		return true
	}
	switch site := r.Header.Values("Sec-Fetch-Site"); {
	case len(site) == 0: // Not all browsers say so; the cookie is for this site only, anyway.
		return false
	case len(site) > 1:
		return true
	default:
		return site[0] != "same-origin" && site[0] != "none"
	}
}

// knows reports whether a request has the cookie.
func (g *Gate) knows(r *http.Request) bool {
	for _, c := range r.CookiesNamed(cookieName) {
		if same(c.Value, g.cookie) {
			return true
		}
	}
	return false
}

// login gives a browser the cookie. It answers with a page and no redirect: browsers do not send such a cookie to where another page has
// led them, and that the login file is.
func (g *Gate) login(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet { // Some programs look at an address before they open it.
		refuse(w, http.StatusMethodNotAllowed, "A login needs GET.")
		return
	}
	path, ok := g.spend(r.URL.Query().Get("token"))
	if !ok {
		refuse(w, http.StatusUnauthorized, "This login was used already, or is older than a minute. Run the command again.")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: g.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(onward(g.URL(path))))
}

// harden lets browsers do nothing with an answer but show it.
func harden(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "+
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// refuse answers with plain text, and ends the connection.
func refuse(w http.ResponseWriter, code int, why string) {
	w.Header().Set("Connection", "close")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = fmt.Fprintln(w, why)
}
