package main

import (
	"context"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// sample is the resource usage of a process at one moment.
type sample struct {
	at time.Time
	// heap is the size of the heap after the last garbage collection, and rss is
	// the resident memory, both in bytes.
	heap, rss float64
	// cpu is the CPU time used so far, in seconds.
	cpu     float64
	leading bool
	// writes counts the writes to pods so far, by step and code.
	writes map[string]float64
}

func heapOf(s sample) float64 { return s.heap }
func rssOf(s sample) float64  { return s.rss }

// take takes a sample from a process and the kernel.
func take(ctx context.Context, l *life) (sample, error) {
	s := sample{at: time.Now(), writes: map[string]float64{}}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	metrics, err := l.server.Metrics(ctx)
	if err != nil {
		return s, err
	}
	nextCollection, err := metrics.Sum("go_memstats_next_gc_bytes", nil)
	if err != nil {
		return s, err
	}
	// The next collection is due when the heap that the last one left has doubled.
	s.heap = nextCollection / 2
	// A process that has never led may not have this metric.
	leading, _ := metrics.Sum("workload_resizer_leading", nil)
	s.leading = leading == 1
	for _, series := range metrics["workload_resizer_api_writes_total"].GetMetric() {
		labels := map[string]string{}
		for _, l := range series.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		s.writes[labels["step"]+" "+labels["code"]] += series.GetCounter().GetValue()
	}
	stat, err := localcluster.ProcessStat(l.server.PID())
	s.rss, s.cpu = float64(stat.ResidentMemory()), stat.CPUTime()
	return s, err
}
