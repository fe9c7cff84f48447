package prometheus

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

// mostBytes is the size of the largest answer that is read. The containers of 150,000 pods need a
// third of it.
const mostBytes = 256 << 20

// bounded adds the tenant to requests, and reads answers up to a size.
type bounded struct {
	tenant string
	most   int64
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.tenant != "" {
		r = r.Clone(r.Context())
		r.Header.Set("X-Scope-OrgID", b.tenant)
	}
	response, err := b.next.RoundTrip(r)
	if err == nil {
		response.Body = &body{response.Body, b.most, b.most}
	}
	return response, err
}

// body is the body of an answer.
type body struct {
	io.ReadCloser
	most, left int64
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("the answer is larger than %d MiB", b.most>>20)
	}
	return n, err
}

// sameHost follows redirects only on the host that the user named, and to nothing less secure, since
// the tenant and credentials are sent to it.
func sameHost(r *http.Request, via []*http.Request) error {
	if r.URL.Hostname() != via[0].URL.Hostname() {
		return fmt.Errorf("redirected to the host %s", r.URL.Hostname())
	}
	if r.URL.Scheme != "https" && via[0].URL.Scheme == "https" {
		return errors.New("redirected from https to http")
	}
	if len(via) >= 10 {
		return errors.New("redirected 10 times")
	}
	return nil
}
