package backtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/usage/prometheus"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
	"github.com/workload-resizer/workload-resizer/usage/trace"
)

// readPrometheus reads the machines from a Prometheus. If it fails, the answers so far are kept.
func (in *input) readPrometheus(ctx context.Context, warnings io.Writer) ([]*trace.Machine, error) {
	line, reads := print.NewProgress(warnings), ""
	config := prometheus.Config{
		Address: in.prometheus, Tenant: in.tenant, Selector: in.selector, Credentials: in.credentials,
		Progress: func(answered, queries int) {
			line.Of("reading "+reads+":", int64(answered), int64(queries), fmt.Sprintf("%d queries", queries))
		},
	}
	in.kept = keptOf(config)
	config.Kept = in.kept
	source, err := prometheus.New(config)
	if err != nil {
		return nil, fmt.Errorf("--prometheus: %w", err)
	}
	warn := func(format string, args ...any) {
		fmt.Fprintf(warnings, "warning: %s\n", print.OneLine(fmt.Sprintf(format, args...)))
	}
	until, err := in.end()
	if err != nil {
		return nil, err
	}
	since := until.Add(-in.span)
	reads = "what containers were given"
	given, err := source.Given(ctx, since, until)
	line.Clear()
	if err != nil {
		err = fmt.Errorf("read what containers were given from %s: %w", source.Name(), err)
		if given == nil {
			if errors.Is(err, prometheus.ErrNoPods) {
				in.forget()
			}
			in.tellKept(warnings)
			return nil, fmt.Errorf("%w: check --prometheus", err)
		}
		warn("%v", err)
	}
	reads = "what containers used"
	var all, unknown, bare int
	machines, err := trace.Record(ctx, source, since, until, func(c trace.Container) (string, recommend.Authored, bool) {
		w, authored, known := given.Of(c.Namespace, c.Pod, c.Name)
		all++
		switch {
		case !known:
			unknown++
		case authored.Request == recommend.Amounts{}:
			bare++
		}
		return fmt.Sprintf("%s/%s/%s/%s", w.Namespace, w.Kind, w.Name, c.Name), authored, known
	})
	line.Clear()
	if err != nil && len(machines) == 0 {
		in.tellKept(warnings)
		return nil, err
	}
	if err != nil {
		warn("%v", err)
	}
	if len(machines) == 0 {
		in.forget() // With other rights, the answers may be others.
	}
	switch {
	case len(machines) > 0:
	case unknown > 0:
		return nil, fmt.Errorf("%s has usage of %d containers, but kube_pod_owner does not describe their pods: the labels namespace and pod must be those of the pods (honor_labels)", source.Name(), unknown)
	default:
		return nil, fmt.Errorf("%s has no usage of containers between %s and %s", source.Name(), since.UTC().Format(time.RFC3339), until.UTC().Format(time.RFC3339))
	}
	if unknown > 0 {
		warn("the replay is without %d of %s with usage, whose pods kube_pod_owner does not describe: Prometheus must scrape all shards of kube-state-metrics, with honor_labels", unknown, print.CountOf(int64(all), "container"))
	}
	if bare > 0 {
		warn("%d of %s with usage have no request in the metrics of kube-state-metrics, and count as containers that were given none", bare, print.CountOf(int64(all), "container"))
	}
	return machines, nil
}

// tellKept says what a user can do about a read that failed, if there is anything to keep.
func (in *input) tellKept(w io.Writer) {
	if entries, err := os.ReadDir(in.kept); err == nil && len(entries) > 0 {
		fmt.Fprintln(w, "The complete answers are kept for a day: run the command again to continue.")
	}
}

// keptFor is how long the answers of a Prometheus are kept for the next attempt.
const keptFor = 24 * time.Hour

// keptOf returns the folder in which the answers of a Prometheus are kept until a backtest has used them, or "" if there is
// no place for it. It removes those that nobody came back for.
//
// Callers who may see different series have different folders. A token is not a part of that, because a new one may be the
// reason for the next attempt, but its file is. The name of a folder is a hash, because an address may contain a password.
func keptOf(c prometheus.Config) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	all := filepath.Join(cache, "resizectl", "backtest")
	entries, _ := os.ReadDir(all)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > keptFor {
			_ = os.RemoveAll(filepath.Join(all, entry.Name()))
		}
	}
	headers, _ := os.ReadFile(c.HeadersFile)
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", c.Address, c.Tenant, c.TokenFile, headers))
	return filepath.Join(all, hex.EncodeToString(sum[:]))
}

// forget removes the answers, which are no longer needed.
func (in *input) forget() {
	if in.kept != "" {
		_ = os.RemoveAll(in.kept)
	}
}
