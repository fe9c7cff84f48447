package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// profile saves a CPU profile of the server for each variant, in turns of their own,
// because profiling takes CPU, too.
func (b *bench) profile(ctx context.Context, variants []*variant) error {
	if b.profiles == "" {
		return nil
	}
	if err := os.MkdirAll(b.profiles, 0o755); err != nil {
		return fmt.Errorf("--profiles: %w", err)
	}
	for _, v := range variants {
		dir, err := os.MkdirTemp("", "profile") // That only this user may enter.
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		socket := filepath.Join(dir, "s.sock")
		file := filepath.Join(b.profiles, strings.ReplaceAll(v.name, " ", "-")+".pprof")
		b.say("throughput, profile: %s", v.name)
		t := *v.turn
		t.args = append([]string{"--pprof-bind-address", "unix://" + socket}, t.args...)
		// As long as the writes took, less a margin for variation.
		seconds := max(1, int(0.8*median(v.all(func(w work) float64 { return w.took }))))
		t.meanwhile = func(ctx context.Context) error {
			return saveProfile(ctx, socket, seconds, file)
		}
		if _, err := b.work(ctx, &t); err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
	}
	return nil
}

func saveProfile(ctx context.Context, socket string, seconds int, file string) error {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://localhost/debug/pprof/profile?seconds=%d", seconds), nil)
	if err != nil {
		return fmt.Errorf("request a profile: %w", err)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return fmt.Errorf("request a profile: %w", err)
	}
	content, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return fmt.Errorf("read a profile: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("request a profile: status %d: %s", response.StatusCode, content)
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		return fmt.Errorf("save a profile: %w", err)
	}
	return nil
}
