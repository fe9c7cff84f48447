package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
)

// goroutines counts goroutines by what they are for: the two functions at the bottom of
// their stacks.
type goroutines map[string]int

func (g goroutines) total() int {
	sum := 0
	for _, n := range g {
		sum += n
	}
	return sum
}

// least keeps the smaller count of each kind.
func (g goroutines) least(other goroutines) {
	for kind := range g {
		if g[kind] = min(g[kind], other[kind]); g[kind] == 0 {
			delete(g, kind)
		}
	}
}

// since describes the differences from before, "" if there are none.
func (g goroutines) since(before goroutines) string {
	kinds := maps.Clone(before)
	maps.Copy(kinds, g)
	var differs []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if n := g[kind] - before[kind]; n != 0 {
			differs = append(differs, fmt.Sprintf("%+d %s", n, kind))
		}
	}
	return strings.Join(differs, "; ")
}

// askGoroutines requests the goroutine profile of a process, which requires the right to
// debug.
func askGoroutines(ctx context.Context, l *life, a access) (goroutines, error) {
	authority, err := os.ReadFile(a.authorityFile)
	if err != nil {
		return nil, err
	}
	token, err := os.ReadFile(a.tokenFile)
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("read %s: no certificate found", a.authorityFile)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+l.pprofAddress+"/debug/pprof/goroutine?debug=1", nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+string(token))
	// A connection that stays open would be counted the next time.
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: trusted, ServerName: serverName, MinVersion: tls.VersionTLS13},
	}}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("request the goroutines of %s: %s: %s", l.name, response.Status, content)
	}
	all := parseGoroutines(string(content))
	// This request itself has such a goroutine, which may or may not have started.
	maps.DeleteFunc(all, func(kind string, _ int) bool {
		return strings.HasPrefix(kind, "net/http.(*connReader).backgroundRead")
	})
	return all, nil
}

// parseGoroutines parses a profile in text form: for each stack, a line with the count
// and then a line per function, the bottom last.
func parseGoroutines(profile string) goroutines {
	all, count, stack := goroutines{}, 0, []string(nil)
	end := func() {
		if count > 0 && len(stack) > 0 {
			slices.Reverse(stack)
			all[strings.Join(stack[:min(2, len(stack))], " > ")] += count
		}
		count, stack = 0, nil
	}
	lines := bufio.NewScanner(strings.NewReader(profile))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) > 2 && fields[1] == "@":
			end()
			count, _ = strconv.Atoi(fields[0])
		case len(fields) > 2 && fields[0] == "#" && strings.HasPrefix(fields[1], "0x"):
			function, _, _ := strings.Cut(fields[2], "+0x")
			stack = append(stack, function)
		}
	}
	end()
	return all
}
