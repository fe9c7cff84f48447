package localcluster

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/api"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
)

// PrometheusForTest runs bin/prometheus with a configuration, a prometheus.yml in
// dir beside the files that it names, until the test is over, and waits until it is
// ready. It returns a client of its API. If the test has failed, it shows the end of
// its log.
func PrometheusForTest(tb testing.TB, dir string) promv1.API {
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
		"--storage.tsdb.path", tb.TempDir(),
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
	tb.Cleanup(func() {
		// There is nothing in it that is worth an orderly end.
		_ = command.Process.Kill()
		<-ended
		if tb.Failed() {
			tb.Logf("the test has failed, the end of Prometheus' log:\n%s", Tail(log.String(), logTail))
		}
	})
	Eventually(tb, "Prometheus to be ready", func() error {
		select {
		case <-ended:
			tb.Fatalf("Prometheus has ended: %v; the end of its log:\n%s", end, Tail(log.String(), logTail))
		default:
		}
		response, err := http.Get("http://" + address + "/-/ready")
		if err != nil {
			return err
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("/-/ready says %s", response.Status)
		}
		return nil
	})
	client, err := api.NewClient(api.Config{Address: "http://" + address})
	if err != nil {
		tb.Fatal(err)
	}
	return promv1.NewAPI(client)
}
