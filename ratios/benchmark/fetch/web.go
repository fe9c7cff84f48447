package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

const (
	userAgent    = "workload-resizer"
	maxRedirects = 5
)

// web is a feed at a URL. It may be compressed: its reader decompresses it.
type web struct {
	url string
	// insecure allows http://.
	insecure bool
	client   *http.Client
	most     int64
	now      func() time.Time
	// etag and modified belong to the content that was returned last.
	etag, modified string
}

func newWeb(url string, insecure bool, p *Poller) *web {
	return &web{url: url, insecure: insecure, client: &http.Client{Transport: p.transport, CheckRedirect: checkRedirect}, most: p.maxBytes, now: p.config.Clock.Now}
}

func checkRedirect(next *http.Request, before []*http.Request) error {
	if len(before) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	next.Header.Del("Referer") // The query of the URL may contain credentials.
	if before[len(before)-1].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return errors.New("refused a redirect from https to " + next.URL.Scheme)
	}
	return nil
}

var errInsecure = errors.New("the URL begins with http://, so that others on the network can change its content: use https://, or set insecure")

func (w *web) get(ctx context.Context, whole bool) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url, nil)
	if err != nil {
		return nil, withoutURL(err)
	}
	if request.URL.Scheme != "https" && !w.insecure {
		return nil, errInsecure
	}
	request.Header.Set("User-Agent", userAgent)
	// The transport would decompress without a limit.
	request.Header.Set("Accept-Encoding", "gzip")
	conditional := !whole && (w.etag != "" || w.modified != "")
	if conditional {
		set(request.Header, "If-None-Match", w.etag)
		set(request.Header, "If-Modified-Since", w.modified)
	}
	response, err := w.client.Do(request)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer func() { _ = response.Body.Close() }()
	switch {
	case response.StatusCode == http.StatusNotModified && conditional:
		return nil, errUnchanged
	case response.StatusCode != http.StatusOK:
		return nil, w.refused(response)
	case response.ContentLength > w.most:
		return nil, tooLarge(w.most)
	}
	content, err := readAll(response.Body, w.most)
	if err != nil {
		return nil, err
	}
	w.etag, w.modified = response.Header.Get("ETag"), response.Header.Get("Last-Modified")
	return content, nil
}

func set(h http.Header, key, value string) {
	if value != "" {
		h.Set(key, value)
	}
}

// refused returns the error for a response without content.
func (w *web) refused(r *http.Response) error {
	status := fmt.Sprintf("%d %s", r.StatusCode, http.StatusText(r.StatusCode))
	if r.StatusCode == http.StatusTooManyRequests || r.StatusCode == http.StatusServiceUnavailable {
		if after := retryAfter(r.Header.Get("Retry-After"), w.now()); after > 0 {
			return &busyError{status: status, retryAfter: after}
		}
	}
	return fmt.Errorf("the server responded with %s", status)
}

// withoutURL returns an error of the client without the URL, which may contain credentials.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
