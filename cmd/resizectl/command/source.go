package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

const (
	// maxSourceBytes is the maximum size of what a user names with -f.
	maxSourceBytes = 16 << 20
	// downloadTime is how long a download may take.
	downloadTime = 20 * time.Second
	// maxRedirects is how many redirects a download follows.
	maxRedirects = 5
)

// Source is what a user names to read: a file, an http or https URL, or - for standard input.
type Source string

// String names the source in errors, without the password in a URL.
func (s Source) String() string {
	if s == "-" {
		return "standard input"
	}
	if at, err := url.Parse(string(s)); err == nil && at.User != nil {
		return at.Redacted()
	}
	return string(s)
}

// Read returns the text. An error says what else can be named.
func (s Source) Read(ctx context.Context, stdin io.Reader) ([]byte, error) {
	text, err := s.bytes(ctx, stdin)
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxSourceBytes:
		return nil, fmt.Errorf("%s has more than %d MiB: name a smaller file", s, maxSourceBytes>>20)
	case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
		return nil, fmt.Errorf("%s is not UTF-8 text, but binary or in another encoding: save it as UTF-8, or name a text file", s)
	}
	// Some editors begin UTF-8 text with it, and only the start of a joined text may have it.
	return bytes.TrimPrefix(text, byteOrderMark), nil
}

var byteOrderMark = []byte("\uFEFF")

func (s Source) bytes(ctx context.Context, stdin io.Reader) ([]byte, error) {
	switch scheme, _, isURL := strings.Cut(string(s), "://"); {
	case s == "":
		return nil, errors.New("the name of the file is empty: name a file, a URL, or - for standard input")
	case s == "-":
		text, err := ReadInput(ctx, stdin)
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		return text, nil
	case isURL && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")):
		return s.download(ctx)
	case isURL:
		return nil, fmt.Errorf("%s is not an http or https URL: use one, or name a file", s)
	}
	file, err := os.Open(string(s))
	if err != nil {
		return nil, FileError(string(s), err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxSourceBytes+1))
	if err != nil {
		return nil, FileError(string(s), err)
	}
	return text, nil
}

// FileError returns why a file cannot be read, in words.
func FileError(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist: check the name of the file", name)
	case errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("%s is a directory: name a file", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s cannot be read: you do not have the permission; use another file, or change its mode", name)
	}
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		err = failed.Err // The name is said already.
	}
	return fmt.Errorf("read %s: %w: name another file", name, err)
}

// download returns the content at a URL.
func (s Source) download(ctx context.Context) ([]byte, error) {
	if at, err := url.Parse(string(s)); err != nil || at.Host == "" {
		return nil, fmt.Errorf("%s is not a URL: use one such as https://example.com/deploy.yaml", s)
	}
	limited, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	request, err := http.NewRequestWithContext(limited, http.MethodGet, string(s), nil)
	if err != nil {
		return nil, fmt.Errorf("download %s: %w", s, err)
	}
	client := &http.Client{CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("it redirects more than %d times", maxRedirects)
		}
		return nil
	}}
	response, err := client.Do(request)
	if err != nil {
		return nil, s.notDownloaded(ctx, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("download %s: the server answers %s: check the URL", s, response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxSourceBytes+1))
	if err != nil {
		return nil, s.notDownloaded(ctx, err)
	}
	return text, nil
}

// notDownloaded returns why a download failed; ctx is the caller's own.
func (s Source) notDownloaded(ctx context.Context, err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err // The URL is named already.
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("download %s: it took longer than %s: save it to a file, and use that", s, downloadTime)
	}
	return fmt.Errorf("download %s: %w: check the URL, or save it to a file and use that", s, err)
}

// ReadInput is like io.ReadAll, but ends with ctx: nothing else ends the wait for typed
// input. Later input is lost.
func ReadInput(ctx context.Context, in io.Reader) ([]byte, error) {
	var text bytes.Buffer
	done := make(chan error, 1)
	go func() {
		_, err := text.ReadFrom(in)
		done <- err
	}()
	select {
	case err := <-done:
		return text.Bytes(), err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
