package feed

import (
	"maps"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// The row is as published.
const (
	cloudHeader  = "VM Size, CPU, vCPUs, NUMA Nodes, Memory(GiB), Avg Score, StdDev, StdDev%, #Runs\n"
	cloudRow     = "Standard_F8s_v2, Platinum 8168, 8, 1, 16.0, 131477, 2180, 1.66%, 140"
	goodCloudCSV = cloudHeader + cloudRow
)

var cloudSample = sample.Sample{
	InstanceType: "Standard_F8s_v2", CPUModel: "Platinum-8168", Benchmark: "coremark", Score: 131477, VCPUs: 8, Threads: 8,
	Runs: 140, Machine: "Standard_F8s_v2/Platinum-8168/1/16.0", Source: "published", Time: now,
}

func TestCloudCSVRows(t *testing.T) {
	with := func(change func(*sample.Sample)) *sample.Sample { s := cloudSample; change(&s); return &s }
	for _, tc := range []struct {
		name, header, row string
		want              *sample.Sample
		field, reason     string
	}{
		{name: "as published", row: cloudRow, want: &cloudSample},
		{name: "thousands", row: strings.Replace(cloudRow, "131477", `"131,477"`, 1), want: &cloudSample},
		{name: "headers in other notations", header: "vm size,cpu,VCPUS,NumaNodes,memory (GiB),AVG SCORE,Std Dev,StdDev %,# runs\n", row: cloudRow, want: &cloudSample},
		{name: "other columns in a different order", header: "Region,Avg Score,VM Size\n", row: "west,131477,Standard_F8s_v2",
			want: with(func(s *sample.Sample) { s.CPUModel, s.Runs, s.Machine = "", 0, "Standard_F8s_v2///" })},
		{name: "no size", row: strings.Replace(cloudRow, "Standard_F8s_v2", "", 1), field: "VM Size", reason: "must be set"},
		{name: "no score", row: strings.Replace(cloudRow, "131477", "n/a", 1), field: "Avg Score", reason: `not "n/a"`},
		{name: "commas that do not separate thousands", row: strings.Replace(cloudRow, "131477", `"13,14"`, 1), field: "Avg Score", reason: "number"},
		{name: "vCPUs are not a number", row: strings.Replace(cloudRow, " 8,", " eight,", 1), field: "vCPUs", reason: "whole number"},
		{name: "a size that is not the name of a node type", row: strings.Replace(cloudRow, "Standard_F8s_v2", "F8s v2", 1), field: "VM Size", reason: `does not name a node type: must be up to 63 letters`},
		{name: "a score beyond any benchmark", row: strings.Replace(cloudRow, "131477", "1e308", 1), field: "Avg Score", reason: "must be from 1e-15 to 1e+15, not 1e+308"},
		{name: "a score below any benchmark", row: strings.Replace(cloudRow, "131477", "5e-324", 1), field: "Avg Score", reason: "must be from 1e-15 to 1e+15, not 5e-324"},
		{name: "too many runs", row: strings.Replace(cloudRow, "140", "1000001", 1), field: "#Runs", reason: "1000000"},
		{name: "vCPUs are unknown", header: "VM Size,Avg Score\n", row: "cx22,5", field: "vCPUs", reason: "add a column"},
		{name: "a quote is missing", row: strings.Replace(cloudRow, "131477", `"131,477`, 1), field: "", reason: "is not CSV"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			header := tc.header
			if header == "" {
				header = cloudHeader
			}
			r := read(t, CloudCSV, header+tc.row, tableOptions(CloudCSV))
			if tc.want != nil {
				wantSamples(t, r.Samples, *tc.want)
				return
			}
			wantFault(t, r, 2, tc.field, tc.reason)
		})
	}
}

func TestCloudcsv(t *testing.T) {
	t.Run("cloud-csv needs a benchmark and its columns", cloudCsvNeedsABenchmarkAndItsColumns)
	t.Run("different figures are a new measurement of the same machine", differentFiguresAreANewMeasurementOfTheSameMachine)
	t.Run("reads a page as published", readsAPageAsPublished)
	t.Run("computes ratios of published CoreMark scores", computesRatiosOfPublishedCoreMarkScores)
}

func cloudCsvNeedsABenchmarkAndItsColumns(t *testing.T) {
	if _, err := Read(CloudCSV, strings.NewReader(goodCloudCSV), options()); err == nil || !strings.Contains(err.Error(), "set benchmark of the feed (--benchmark)") {
		t.Errorf("no benchmark: error %v", err)
	}
	if _, err := Read(CloudCSV, strings.NewReader("<html>\n"), tableOptions(CloudCSV)); err == nil || !strings.Contains(err.Error(), `no column "VM Size", "Avg Score"`) {
		t.Errorf("an HTML page: error %v", err)
	}
	for _, text := range []string{strings.ReplaceAll(goodCloudCSV, ", ", "|"), "sep=|\n" + goodCloudCSV, "sep=\n" + goodCloudCSV} {
		if _, err := Read(CloudCSV, strings.NewReader(text), tableOptions(CloudCSV)); err == nil || !strings.HasSuffix(err.Error(), "separate the columns with commas") {
			t.Errorf("%.20q: error %v", text, err)
		}
	}
	if _, err := Read(CloudCSV, strings.NewReader("VM Size;Score\n"), tableOptions(CloudCSV)); err == nil || !strings.HasSuffix(err.Error(), `no column "Avg Score": the first line must name the columns`) {
		t.Errorf("a missing column: error %v", err)
	}
}

func differentFiguresAreANewMeasurementOfTheSameMachine(t *testing.T) {
	old := read(t, CloudCSV, goodCloudCSV, tableOptions(CloudCSV)).Samples[0]
	next := read(t, CloudCSV, strings.Replace(goodCloudCSV, "131477", "131478", 1), tableOptions(CloudCSV)).Samples[0]
	if old.ID == next.ID || old.Machine != next.Machine {
		t.Errorf("%+v is followed by %+v", old, next)
	}
}

// readsAPageAsPublished reads a part of a page of Azure's documentation.
func readsAPageAsPublished(t *testing.T) {
	text, err := os.ReadFile("testdata/azure-coremark.md")
	if err != nil {
		t.Fatal(err)
	}
	if found, ok := Detect(text); found != CloudCSV || !ok {
		t.Errorf("detected as %q", found)
	}
	r := read(t, CloudCSV, string(text)+"\n"+string(text), tableOptions(CloudCSV))
	const model = "Intel-R-Xeon-R-Platinum-8168-CPU-2.70GHz"
	wantSamples(t, r.Samples,
		sample.Sample{InstanceType: "Standard_F2s_v2", CPUModel: model, Benchmark: "coremark", Score: 35925, VCPUs: 2, Threads: 2, Runs: 308, Machine: "Standard_F2s_v2/" + model + "/1/4.0", Source: "published", Time: now},
		sample.Sample{InstanceType: "Standard_F8s_v2", CPUModel: model, Benchmark: "coremark", Score: 136027, VCPUs: 8, Threads: 8, Runs: 238, Machine: "Standard_F8s_v2/" + model + "/1/16.0", Source: "published", Time: now})
	if r.Rows != 4 || r.Reasons[Superseded] != 2 {
		t.Errorf("%+v", r)
	}
}

// computesRatiosOfPublishedCoreMarkScores reads a cloud's CoreMark scores, which are one of the
// sample files for users. Ratios are computed from the scores per vCPU.
func computesRatiosOfPublishedCoreMarkScores(t *testing.T) {
	text, err := os.ReadFile("../../../deploy/samples/coremark.csv")
	if err != nil {
		t.Fatal(err)
	}
	perVCPU := map[string]float64{
		"t2d": 29817, "c3d": 24073, "t2a": 23526, "c2d": 22240, "n4": 22207, "n2d": 20482,
		"c3": 20043, "c2": 18339, "n2": 17321, "g2": 14000, "n1": 13020, "e2": 12995,
	}
	r := read(t, CloudCSV, string(text), tableOptions(CloudCSV))
	speed := map[string]float64{}
	for _, s := range r.Samples {
		speed[nodetype.Family(s.InstanceType)] = s.PerVCPU()
	}
	if r.Bad != 0 || !maps.Equal(speed, perVCPU) {
		t.Fatalf("%v, want %v; faults %+v", speed, perVCPU, r.Faults)
	}
	for family, want := range map[string]float64{"n4": 1.08, "c3": 0.98, "t2d": 1.46, "n2d": 1} {
		if got := math.Round(100*speed[family]/speed["n2d"]) / 100; got != want {
			t.Errorf("%s is %v times as fast as n2d, want %v", family, got, want)
		}
	}
}
