package prometheus

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
)

// Credentials are files with what a Prometheus, or a proxy in front of it, requires of a caller; empty for none. The
// token and the headers are read again when they change.
type Credentials struct {
	// TokenFile has a token, which is sent as Authorization: Bearer.
	TokenFile string
	// HeadersFile has a header per line, as NAME: VALUE.
	HeadersFile string
	// CAFile has the certificate authorities of the Prometheus, as PEM; empty for those of the system.
	CAFile string
}

// transport returns what sends requests with the credentials.
func (c Credentials) transport() (http.RoundTripper, error) {
	if c.CAFile != "" {
		// Other errors do not name the file.
		if _, err := cert.NewPool(c.CAFile); err != nil {
			return nil, err
		}
	}
	if err := checkToken(c.TokenFile); err != nil {
		return nil, err
	}
	next, err := rest.TransportFor(&rest.Config{BearerTokenFile: c.TokenFile, TLSClientConfig: rest.TLSClientConfig{CAFile: c.CAFile}})
	if err != nil || c.HeadersFile == "" {
		return next, err
	}
	if _, err := readHeaders(c.HeadersFile); err != nil {
		return nil, err
	}
	return withHeaders{c.HeadersFile, next}, nil
}

// checkToken returns an error if a file has what is no token, such as a byte order mark before it: the answer to such a token
// would not say why. Whether the file can be read is checked later.
func checkToken(file string) error {
	text, err := os.ReadFile(file)
	if err == nil && bytes.ContainsFunc(bytes.TrimSpace(text), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("%s does not have a token alone, as ASCII on one line: save it without anything else, such as Bearer or a byte order mark", file)
	}
	return nil
}

// withHeaders adds the headers of a file to requests.
type withHeaders struct {
	file string
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (w withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	headers, err := readHeaders(w.file)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	for name, values := range headers {
		r.Header[name] = values
	}
	// Go sends this instead of the header.
	if host := headers.Get("Host"); host != "" {
		r.Host = host
	}
	return w.next.RoundTrip(r)
}

// readHeaders reads a file of headers. Its errors contain nothing of the file.
func readHeaders(file string) (textproto.MIMEHeader, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimPrefix(text, []byte("\uFEFF")) // Some editors begin UTF-8 text with it.
	end := []byte("\n\n")
	headers, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(append(bytes.TrimSpace(text), end...)))).ReadMIMEHeader()
	if err != nil || len(headers) == 0 {
		return nil, fmt.Errorf("%s does not have a header per line, as NAME: VALUE", file)
	}
	return headers, nil
}

// secrets returns what an answer may repeat of the credentials.
func (c Credentials) secrets() (all []string) {
	if token, err := os.ReadFile(c.TokenFile); err == nil {
		all = append(all, strings.TrimSpace(string(token)))
	}
	if headers, err := readHeaders(c.HeadersFile); err == nil {
		for _, values := range headers {
			all = append(all, values...)
			for _, value := range values {
				// After the name of a scheme, such as Bearer, the rest is the secret.
				_, rest, _ := strings.Cut(value, " ")
				all = append(all, strings.TrimSpace(rest))
			}
		}
	}
	return all
}

// errTwoUsers means that only one of two identities would be sent.
var errTwoUsers = errors.New("the address of Prometheus has a user, and there is a token: use only one of them")

// check returns an error if the credentials contradict the address.
func (c Credentials) check(address *url.URL) error {
	if address.User != nil && c.TokenFile != "" {
		return errTwoUsers
	}
	return nil
}
