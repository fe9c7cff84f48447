package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/workload-resizer/workload-resizer/test/oracle"
)

// report is the report that is written as JSON.
type report struct {
	Seconds     float64 `json:"seconds"`
	Pods        int     `json:"pods"`
	PodsCreated int     `json:"podsCreated"`
	PodsDeleted int64   `json:"podsDeleted"`
	// PodsChecked is the number of pods at the end, all of which must have been correct.
	PodsChecked int `json:"podsChecked"`
	// CreatedPerSecond and DeletedPerSecond cover the whole run, from the first deletion
	// to the end of the churn. DeletedPerActiveSecond excludes quiet times and outages.
	CreatedPerSecond       float64 `json:"createdPerSecond"`
	DeletedPerSecond       float64 `json:"deletedPerSecond"`
	DeletedPerActiveSecond float64 `json:"deletedPerActiveSecond"`
	// DeletedInTime and NotDeletedInTime cover the same active seconds. A pod is not
	// deleted if too few are running.
	DeletedInTime     int64   `json:"deletedInTime"`
	NotDeletedInTime  int64   `json:"notDeletedInTime"`
	DeletionsFailed   int64   `json:"deletionsFailed"`
	Resizes           int     `json:"resizes"`
	Sizings           sizings `json:"sizings"`
	RatioChanges      int     `json:"ratioChanges"`
	APIServerRestarts int     `json:"apiServerRestarts"`
	// SecondsAfterKill and SecondsAfterTerm are the times until another process led,
	// after each SIGKILL and SIGTERM to the leader.
	SecondsAfterKill []float64 `json:"secondsAfterKill"`
	SecondsAfterTerm []float64 `json:"secondsAfterTerm"`
	Stretches        []stretch `json:"stretches"`
	// Tail is the resource usage of the processes at the end, when none was killed.
	Tail   []stretch `json:"tail"`
	Quiets []count   `json:"quiets"`
	// Writes counts the writes to pods by step and code, for all processes.
	Writes map[string]float64 `json:"writes"`
	// Problems must be empty.
	Problems []string `json:"problems"`
}

// count is the number of goroutines of a process at a quiet time.
type count struct {
	Process    string `json:"process"`
	Leading    bool   `json:"leading"`
	Goroutines int    `json:"goroutines"`
	// Differs describes the difference from the first quiet time of any process in the
	// same role.
	Differs string `json:"differs"`
}

// judgeMemory adds the resource usage of the processes and its problems. It judges only
// stretches during whose second half the process was warm.
func (r *report) judgeMemory(replicas []*replica) {
	r.Writes = map[string]float64{}
	for _, replica := range replicas {
		for _, l := range replica.lives {
			r.Stretches = append(r.Stretches, stretches(l)...)
			if len(l.samples) > 0 {
				for what, n := range l.samples[len(l.samples)-1].writes {
					r.Writes[what] += n
				}
			}
		}
	}
	slices.SortStableFunc(r.Stretches, func(a, b stretch) int { return int(b.Seconds - a.Seconds) })
	for _, s := range r.Stretches {
		if s.Seconds >= 2*r.warmUp().Seconds() {
			r.Problems = append(r.Problems, s.grows()...)
		}
	}
}

// judgeGoroutines adds the counts. A leader must never have more goroutines than the
// first leader, and a follower never more than the first follower. No process may have
// more than it had before in the same role.
func (r *report) judgeGoroutines(quiets []quiet) {
	first, last := map[bool]goroutines{}, map[string]quiet{}
	for _, q := range quiets {
		if first[q.leading] == nil {
			first[q.leading] = q.goroutines
		}
		c := count{q.process, q.leading, q.goroutines.total(), q.goroutines.since(first[q.leading])}
		r.Quiets = append(r.Quiets, c)
		if before := first[q.leading].total(); c.Goroutines > before {
			r.Problems = append(r.Problems, fmt.Sprintf("%s has %d goroutines, the first process in its role had %d: %s", c.Process, c.Goroutines, before, c.Differs))
		} else if own := last[c.Process]; own.goroutines != nil && own.leading == q.leading && c.Goroutines > own.goroutines.total() {
			r.Problems = append(r.Problems, fmt.Sprintf("%s has %d goroutines, before it had %d: %s", c.Process, c.Goroutines, own.goroutines.total(), q.goroutines.since(own.goroutines)))
		}
		last[c.Process] = q
	}
}

// write writes the report as JSON and as Markdown.
func (r *report) write(name string) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(name+".json", append(content, '\n'), 0o644); err != nil {
		return err
	}
	file, err := os.Create(name + ".md")
	if err != nil {
		return err
	}
	r.markdown(file)
	return file.Close()
}

func (r *report) markdown(w io.Writer) {
	line := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	role := map[bool]string{true: "leading", false: "following"}
	line("| What | Figure |\n|---|---|")
	line("| duration | %v |", seconds(r.Seconds))
	line("| pods at any time | %d |", r.Pods)
	line("| pods created, deleted | %d, %d |", r.PodsCreated, r.PodsDeleted)
	line("| created, deleted per second, over the whole run | %.1f, %.1f |", r.CreatedPerSecond, r.DeletedPerSecond)
	line("| deleted per second, excluding quiet times and outages | %.1f |", r.DeletedPerActiveSecond)
	line("| due for deletion, but too few pods were running | %d |", r.NotDeletedInTime)
	line("| failed deletions | %d |", r.DeletionsFailed)
	line("| pods that ran, that needed a resize, that were resized | %d, %d, %d |", r.Sizings.Ran, r.Sizings.Needed, r.Sizings.Sized)
	line("| pods that ended before their resize: early, in outages, overdue | %d, %d, %d |", r.Sizings.DiedYoung, r.Sizings.DiedInOutage, r.Sizings.DiedOverdue)
	for _, l := range []struct {
		what string
		latencies
	}{{"running to sized", r.Sizings.First}, {"ratio change to sized again", r.Sizings.Again}} {
		line("| %s, excluding outages: p50, p99, longest of %d | %.2f s, %.2f s, %.2f s |", l.what, l.Count, l.P50, l.P99, l.Max)
	}
	line("| pods at the end, each of them checked | %d |", r.PodsChecked)
	line("| observed resizes | %d |", r.Resizes)
	line("| ratio changes | %d |", r.RatioChanges)
	line("| API server restarts | %d |", r.APIServerRestarts)
	line("| leaders killed | %d |", len(r.SecondsAfterKill))
	line("| seconds until another replica led | %.1f |", r.SecondsAfterKill)
	line("| leaders terminated by SIGTERM | %d |", len(r.SecondsAfterTerm))
	line("| seconds until another replica led | %.1f |", r.SecondsAfterTerm)
	for _, what := range sortedKeys(r.Writes) {
		line("| writes `%s` | %.0f |", what, r.Writes[what])
	}
	for _, table := range []struct {
		process   string
		stretches []stretch
	}{{"Process", r.Stretches}, {"Process in the tail", r.Tail}} {
		line("\n| %s | Role | Duration | CPU | Live heap | Heap slope | RSS | RSS slope |\n|---|---|---|---|---|---|---|---|", table.process)
		for _, s := range table.stretches {
			line("| %s | %s | %v | %.3f cores | %.1f MiB | %+.2f MiB/h | %.1f MiB | %+.2f MiB/h |", s.Process, role[s.Leading], seconds(s.Seconds), s.CPU,
				s.Heap/oracle.Mebibyte, s.HeapSlope*3600/oracle.Mebibyte, s.RSS/oracle.Mebibyte, s.RSSSlope*3600/oracle.Mebibyte)
		}
	}
	line("\n| Process at a quiet time | Role | Goroutines | Difference from the first in this role |\n|---|---|---|---|")
	for _, q := range r.Quiets {
		line("| %s | %s | %d | %s |", q.Process, role[q.Leading], q.Goroutines, q.Differs)
	}
	line("")
	for _, problem := range r.Problems {
		line("- problem: %s", problem)
	}
	if len(r.Problems) == 0 {
		line("No problems.")
	}
}
