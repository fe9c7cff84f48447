package localcluster

import (
	"context"
	"fmt"
	"net/http"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/procfs"
)

// Metrics are the metrics of a server, by name.
type Metrics map[string]*dto.MetricFamily

// Metrics returns the server's metrics.
func (s *Server) Metrics(ctx context.Context) (Metrics, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.HTTPAddress+"/metrics", nil)
	if err != nil {
		return nil, fmt.Errorf("read the server's metrics: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("read the server's metrics: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read the server's metrics: %w", err)
	}
	return families, nil
}

// Sum adds up the gauges and counters of a name that have all these labels. For histograms, it
// adds up the number of observations. It returns an error if no series matches.
func (m Metrics) Sum(name string, labels map[string]string) (float64, error) {
	sum, found := 0.0, false
	for _, series := range m[name].GetMetric() {
		matched := 0
		for _, l := range series.GetLabel() {
			if want, ok := labels[l.GetName()]; ok && want == l.GetValue() {
				matched++
			}
		}
		if matched == len(labels) {
			found = true
			sum += series.GetGauge().GetValue() + series.GetCounter().GetValue() + float64(series.GetHistogram().GetSampleCount())
		}
	}
	if !found {
		return 0, fmt.Errorf("metric %s has no series with %v", name, labels)
	}
	return sum, nil
}

// ProcessStat returns the kernel's statistics of a process, such as its CPU time and its
// resident memory.
func ProcessStat(pid int) (procfs.ProcStat, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, fmt.Errorf("read the statistics of process %d: %w", pid, err)
	}
	return process.Stat()
}
