// Command published measures how well ratios from published benchmark scores agree with a
// benchmark that they do not contain. It reads a publisher's files, which are not part of the
// project, and prints the ratios as a table. It fails if too few rows are accepted, if reading
// takes too long or too much memory, or if the ratios disagree with the other benchmark.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/student"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// The program checks these limits: the time and memory for reading, the share of accepted rows of
// the suites with weight, and the share of node types whose other benchmark is within the spread
// of the suites.
const (
	mostTime      = 20 * time.Second
	mostMemory    = 512 << 20
	leastAccepted = 0.99
	leastWithin   = 0.9
)

// options are the flags.
type options struct{ scores, servers, coremark, baseline string }

func main() {
	var o options
	flag.StringVar(&o.scores, "scores", "", "rows of Spare Cores' table benchmark_score, or its dump")
	flag.StringVar(&o.servers, "servers", "", "rows of its table server; not needed with a dump")
	flag.StringVar(&o.coremark, "coremark", "", "a cloud's table of CoreMark; empty for none")
	flag.StringVar(&o.baseline, "baseline", "", "the node type to compare with, such as n2d")
	flag.Parse()
	if err := run(&o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "published:", err)
		os.Exit(1)
	}
}

func run(o *options, out io.Writer) error {
	result, err := o.read(out)
	if err != nil {
		return err
	}
	coremark, err := o.coreMark()
	if err != nil {
		return err
	}
	for i := range result.Samples {
		result.Samples[i].NodeType = nodetype.Family(result.Samples[i].InstanceType)
	}
	s := estimate.Defaults()
	aggregates := estimate.Aggregates(result.Samples, time.Now(), s)
	return compare(estimate.Estimates(aggregates, o.baseline, estimate.Cluster{}, s), coremark, s.Confidence, out)
}

// read reads the scores, and checks the limits.
func (o *options) read(out io.Writer) (feed.Result, error) {
	begin := time.Now()
	options := feed.Options{Source: "published", Now: begin, MaxAge: estimate.Defaults().MaxAgePublished}
	if o.servers != "" {
		file, err := os.Open(o.servers)
		if err != nil {
			return feed.Result{}, err
		}
		defer func() { _ = file.Close() }()
		if options.Servers, err = feed.ReadServers(file); err != nil {
			return feed.Result{}, err
		}
	}
	file, err := os.Open(o.scores)
	if err != nil {
		return feed.Result{}, err
	}
	defer func() { _ = file.Close() }()
	result, err := feed.Read(feed.SpareCores, file, options)
	if err != nil {
		return result, err
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	took := time.Since(begin)
	accepted := result.Rows - result.Skipped - result.Bad
	weighted := result.Rows - result.Reasons[feed.NoWeight] - result.Reasons[feed.UnknownBenchmark]
	_, err = fmt.Fprintf(out, "%d rows in %.1f s and %d MiB: %d of %d rows of suites with weight are accepted, as %d samples; the others by reason: %v\n\n",
		result.Rows, took.Seconds(), memory.Sys>>20, accepted, weighted, len(result.Samples), result.Reasons)
	if took > mostTime || memory.Sys > mostMemory {
		err = errors.Join(err, fmt.Errorf("reading took %v and %d bytes, at most %v and %d are allowed", took, memory.Sys, mostTime, mostMemory))
	}
	if float64(accepted) < leastAccepted*float64(weighted) {
		err = errors.Join(err, fmt.Errorf("%d of %d rows are accepted, at least %v are needed", accepted, weighted, leastAccepted))
	}
	return result, err
}

// coreMark returns the scores per vCPU of node types.
func (o *options) coreMark() (map[string]float64, error) {
	scores := map[string]float64{}
	if o.coremark == "" {
		return scores, nil
	}
	file, err := os.Open(o.coremark)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	result, err := feed.Read(feed.CloudCSV, file, feed.Options{Benchmark: "coremark", Now: time.Now()})
	for _, s := range result.Samples {
		scores[nodetype.Family(s.InstanceType)] = s.PerVCPU()
	}
	return scores, err
}

// compare prints the ratios, and checks them against CoreMark.
func compare(estimates []estimate.Estimate, coremark map[string]float64, confidence float64, out io.Writer) error {
	if _, err := io.WriteString(out, "| Node type | CoreMark | Ratio | Interval | Benchmarks | One thread per core, all threads | Held back |\n|---|---|---|---|---|---|---|\n"); err != nil {
		return err
	}
	within, known := 0, 0
	for i := range estimates {
		e := &estimates[i]
		said := "–"
		if ratio := coremark[e.NodeType] / coremark[e.Baseline]; ratio > 0 {
			said = fmt.Sprintf("%.2f", ratio)
			known++
			if predicts(e, ratio, confidence) {
				within++
			}
		}
		if _, err := fmt.Fprintf(out, "| %s | %s | %s |\n", e.NodeType, said, describe(e)); err != nil {
			return err
		}
	}
	if float64(within) < leastWithin*float64(known) {
		return fmt.Errorf("CoreMark is within the spread of the suites for %d of %d node types, at least %v are needed", within, known, leastWithin)
	}
	_, err := fmt.Fprintf(out, "\nCoreMark is within the spread of the suites for %d of %d node types.\n", within, known)
	return err
}

// predicts reports whether a benchmark that was not run is within the spread of those that were:
// in their prediction interval.
func predicts(e *estimate.Estimate, ratio, confidence float64) bool {
	k := 0.0
	for _, p := range e.Parts {
		if p.Weight > 0 {
			k++
		}
	}
	return k > 1 && math.Abs(math.Log(ratio/e.Ratio)) <= student.Quantile(confidence, k-1)*e.Spread*math.Sqrt(1+1/k)
}

func describe(e *estimate.Estimate) string {
	if e.Ratio == 0 {
		return "unknown | | | | " + held(e)
	}
	interval, ends := "unknown", "unknown"
	if e.Interval != nil {
		interval = fmt.Sprintf("%.2f to %.2f", e.Interval.Low, e.Interval.High)
	}
	if e.Ends != nil {
		ends = fmt.Sprintf("%.2f, %.2f", e.Ends.OneThread, e.Ends.AllThreads)
	}
	var parts []string
	for _, p := range e.Parts {
		parts = append(parts, fmt.Sprintf("%s %.2f", p.Benchmark, p.Ratio))
	}
	return fmt.Sprintf("%.2f | %s | %s | %s | %s", e.Ratio, interval, strings.Join(parts, ", "), ends, held(e))
}

// held returns the reasons why the estimate is held back.
func held(e *estimate.Estimate) string {
	var codes []string
	for _, d := range e.Doubts {
		codes = append(codes, "`"+string(d.Code)+"`")
	}
	return strings.Join(slices.Compact(codes), ", ")
}
