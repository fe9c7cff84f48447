package localcluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/api"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
)

// PrometheusForTest runs bin/prometheus until the test ends, and waits until it is ready. Its
// configuration is prometheus.yml in dir, next to the files that it names. It returns a client
// for Prometheus' API. If the test fails, it shows the end of Prometheus' log.
func PrometheusForTest(tb testing.TB, dir string) promv1.API {
	tb.Helper()
	address, _ := runPrometheus(tb, dir, tb.TempDir())
	client, err := api.NewClient(api.Config{Address: address})
	if err != nil {
		tb.Fatal(err)
	}
	return promv1.NewAPI(client)
}

// RecordedPrometheusForTest is like PrometheusForTest, with samples that were recorded earlier, in
// the OpenMetrics format. It scrapes nothing. It returns its URL, and a function that kills it.
func RecordedPrometheusForTest(tb testing.TB, samples []byte) (address string, kill func()) {
	tb.Helper()
	promtool, err := Binary("promtool")
	if err != nil {
		tb.Fatal(err)
	}
	dir, data := tb.TempDir(), tb.TempDir()
	file := filepath.Join(dir, "samples.txt")
	if err := errors.Join(
		os.WriteFile(file, samples, 0o600),
		os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte("global: {}\n"), 0o600),
	); err != nil {
		tb.Fatal(err)
	}
	create := exec.Command(promtool, "tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=10000h", file, data)
	if out, err := create.CombinedOutput(); err != nil {
		tb.Fatalf("create blocks of recorded samples: %v: %s", err, out)
	}
	return runPrometheus(tb, dir, data)
}

// runPrometheus runs Prometheus with a configuration and a directory for its data. It returns its
// URL, and a function that kills it.
func runPrometheus(tb testing.TB, dir, data string) (url string, kill func()) {
	tb.Helper()
	binary, err := Binary("prometheus")
	if err != nil {
		tb.Fatal(err)
	}
	address, err := FreeAddress("")
	if err != nil {
		tb.Fatal(err)
	}
	log := newTailBuffer()
	command := exec.Command(binary,
		"--config.file", filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path", data,
		// Samples that were recorded long ago must stay.
		"--storage.tsdb.retention.time", "100y",
		"--web.listen-address", address,
	)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started, ended := make(chan error), make(chan struct{})
	var end error
	go func() {
		end = runTied(command, started)
		close(ended)
	}()
	if err := <-started; err != nil {
		tb.Fatalf("start Prometheus: %v", err)
	}
	kill = func() {
		// Its data is not needed, so it does not have to end gracefully.
		_ = command.Process.Kill()
		<-ended
	}
	tb.Cleanup(func() {
		kill()
		if tb.Failed() {
			tb.Logf("the test failed; the end of Prometheus' log:\n%s", Tail(log.String(), logTail))
		}
	})
	Eventually(tb, "Prometheus to be ready", func() error {
		select {
		case <-ended:
			tb.Fatalf("Prometheus ended: %v; the end of its log:\n%s", end, Tail(log.String(), logTail))
		default:
		}
		response, err := http.Get("http://" + address + "/-/ready")
		if err != nil {
			return err
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("/-/ready returns %s", response.Status)
		}
		return nil
	})
	return "http://" + address, kill
}

// Metrics returns a client for the API of the cluster's Prometheus.
func (c *Cluster) Metrics(ctx context.Context) (promv1.API, error) {
	address, err := c.PrometheusURL(ctx)
	if err != nil {
		return nil, err
	}
	client, err := api.NewClient(api.Config{Address: address})
	if err != nil {
		return nil, err
	}
	return promv1.NewAPI(client), nil
}

// PrometheusURL returns the URL of the cluster's Prometheus.
func (c *Cluster) PrometheusURL(ctx context.Context) (string, error) {
	out, err := c.run(ctx, nil, "status", "--dir", c.Dir)
	if out == "" && err != nil {
		return "", fmt.Errorf("get the status of the cluster in %s: %w", c.Dir, err)
	}
	for line := range strings.Lines(out) {
		if address, found := strings.CutPrefix(line, "Prometheus:"); found {
			return strings.TrimSpace(address), nil
		}
	}
	return "", fmt.Errorf("the cluster in %s has no Prometheus", c.Dir)
}
