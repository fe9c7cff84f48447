package fetch

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

// FuzzLocation looks for URLs whose credentials are shown.
func FuzzLocation(f *testing.F) {
	f.Add("ann", "hunter2hunter2", "example.com", "/a", "sig=hunter2hunter2")
	f.Add("hunter2hunter2", "", "[::1]:80", "/%2f", "%")
	f.Fuzz(func(t *testing.T, user, password, host, path, query string) {
		const secret = "hunter2hunter2"
		u := url.URL{Scheme: "https", User: url.UserPassword(user+secret, password+secret), Host: host, Path: path, RawQuery: query + secret}
		if strings.Contains(host+path, secret) {
			return
		}
		feed := Feed{Place: Place{URL: u.String()}}
		if got := feed.Location(); got == "" || strings.Contains(got, secret) {
			t.Errorf("%q is shown as %q", feed.URL, got)
		}
	})
}

// FuzzRetryAfter looks for headers that result in a negative wait.
func FuzzRetryAfter(f *testing.F) {
	f.Add("120")
	f.Add("Sat, 21 Nov 2026 04:02:04 GMT")
	f.Add("Mon, 01 Jan 0000 00:00:00 GMT")
	f.Add("99999999999999999999")
	f.Fuzz(func(t *testing.T, header string) {
		if got := retryAfter(header, time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)); got < 0 {
			t.Errorf("%q is %s", header, got)
		}
	})
}
