package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/workload-resizer/workload-resizer/test/oracle"
)

// report is what is written as JSON.
type report struct {
	Seconds     float64 `json:"seconds"`
	Pods        int     `json:"pods"`
	PodsCreated int     `json:"podsCreated"`
	PodsDeleted int64   `json:"podsDeleted"`
	// PodsChecked are those that were there in the end, all of which had to be right.
	PodsChecked int `json:"podsChecked"`
	// Created and DeletedPerSecond are over the whole run, from the first deletion to
	// the end of churn; DeletedPerActiveSecond leaves the quiet times and outages out.
	CreatedPerSecond       float64 `json:"createdPerSecond"`
	DeletedPerSecond       float64 `json:"deletedPerSecond"`
	DeletedPerActiveSecond float64 `json:"deletedPerActiveSecond"`
	// DeletedInTime and NotDeletedInTime are of the same active seconds: a pod is not
	// deleted if too few run.
	DeletedInTime     int64   `json:"deletedInTime"`
	NotDeletedInTime  int64   `json:"notDeletedInTime"`
	DeletionsFailed   int64   `json:"deletionsFailed"`
	Resizes           int     `json:"resizes"`
	Sizings           sizings `json:"sizings"`
	RatioChanges      int     `json:"ratioChanges"`
	APIServerRestarts int     `json:"apiServerRestarts"`
	// SecondsAfterKill and SecondsAfterTerm are until another process led, after each
	// SIGKILL and SIGTERM to the leader.
	SecondsAfterKill []float64 `json:"secondsAfterKill"`
	SecondsAfterTerm []float64 `json:"secondsAfterTerm"`
	Stretches        []stretch `json:"stretches"`
	// Tail is what processes needed in the end, when nobody was killed.
	Tail   []stretch `json:"tail"`
	Quiets []count   `json:"quiets"`
	// Writes to pods by step and code, of all processes.
	Writes map[string]float64 `json:"writes"`
	// Problems are what is wrong; there must be none.
	Problems []string `json:"problems"`
}

// count is how many goroutines a process had at a quiet time.
type count struct {
	Process    string `json:"process"`
	Leading    bool   `json:"leading"`
	Goroutines int    `json:"goroutines"`
	// Differs is from the first quiet time of any process in the same role.
	Differs string `json:"differs"`
}

// judgeMemory adds what processes needed, and what is wrong with that. Judged are
// the stretches in the second half of which a process was warm.
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

// judgeGoroutines adds the counts. Whatever process leads must never have more than
// the first that led, and whatever does not lead never more than the first of those;
// nor may a process have more than it had in the same role before.
func (r *report) judgeGoroutines(quiets []quiet) {
	first, last := map[bool]goroutines{}, map[string]quiet{}
	for _, q := range quiets {
		if first[q.leading] == nil {
			first[q.leading] = q.goroutines
		}
		c := count{q.process, q.leading, q.goroutines.total(), q.goroutines.since(first[q.leading])}
		r.Quiets = append(r.Quiets, c)
		if before := first[q.leading].total(); c.Goroutines > before {
			r.Problems = append(r.Problems, fmt.Sprintf("%s has %d goroutines, not %d as the first in its role: %s", c.Process, c.Goroutines, before, c.Differs))
		} else if own := last[c.Process]; own.goroutines != nil && own.leading == q.leading && c.Goroutines > own.goroutines.total() {
			r.Problems = append(r.Problems, fmt.Sprintf("%s has %d goroutines, not %d as before: %s", c.Process, c.Goroutines, own.goroutines.total(), q.goroutines.since(own.goroutines)))
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
	line("| time | %v |", seconds(r.Seconds))
	line("| pods at once | %d |", r.Pods)
	line("| pods created, deleted | %d, %d |", r.PodsCreated, r.PodsDeleted)
	line("| created, deleted per second, over the whole run | %.1f, %.1f |", r.CreatedPerSecond, r.DeletedPerSecond)
	line("| deleted per second, quiet times and outages left out | %.1f |", r.DeletedPerActiveSecond)
	line("| of these due, but too few pods ran | %d |", r.NotDeletedInTime)
	line("| deletions that failed | %d |", r.DeletionsFailed)
	line("| pods that ran, that needed another size, that got it | %d, %d, %d |", r.Sizings.Ran, r.Sizings.Needed, r.Sizings.Sized)
	line("| pods that ended before: young, in outages, left out | %d, %d, %d |", r.Sizings.DiedYoung, r.Sizings.DiedInOutage, r.Sizings.DiedOverdue)
	for _, l := range []struct {
		what string
		latencies
	}{{"running to sized", r.Sizings.First}, {"another ratio to sized anew", r.Sizings.Again}} {
		line("| %s, outages left out: p50, p99, longest of %d | %.2f s, %.2f s, %.2f s |", l.what, l.Count, l.P50, l.P99, l.Max)
	}
	line("| pods there in the end, checked one by one | %d |", r.PodsChecked)
	line("| resizes seen | %d |", r.Resizes)
	line("| ratio changes | %d |", r.RatioChanges)
	line("| restarts of the API server | %d |", r.APIServerRestarts)
	line("| leaders killed | %d |", len(r.SecondsAfterKill))
	line("| seconds until another led | %.1f |", r.SecondsAfterKill)
	line("| leaders asked to end by SIGTERM | %d |", len(r.SecondsAfterTerm))
	line("| seconds until another led | %.1f |", r.SecondsAfterTerm)
	for _, what := range sortedKeys(r.Writes) {
		line("| writes `%s` | %.0f |", what, r.Writes[what])
	}
	for _, table := range []struct {
		process   string
		stretches []stretch
	}{{"Process", r.Stretches}, {"Process, in the tail", r.Tail}} {
		line("\n| %s | role | for | CPU | live heap | its slope | RSS | its slope |\n|---|---|---|---|---|---|---|---|", table.process)
		for _, s := range table.stretches {
			line("| %s | %s | %v | %.3f cores | %.1f MiB | %+.2f MiB/h | %.1f MiB | %+.2f MiB/h |", s.Process, role[s.Leading], seconds(s.Seconds), s.CPU,
				s.Heap/oracle.Mebibyte, s.HeapSlope*3600/oracle.Mebibyte, s.RSS/oracle.Mebibyte, s.RSSSlope*3600/oracle.Mebibyte)
		}
	}
	line("\n| Process, when quiet | role | goroutines | unlike the first in this role |\n|---|---|---|---|")
	for _, q := range r.Quiets {
		line("| %s | %s | %d | %s |", q.Process, role[q.Leading], q.Goroutines, q.Differs)
	}
	line("")
	for _, problem := range r.Problems {
		line("- wrong: %s", problem)
	}
	if len(r.Problems) == 0 {
		line("Nothing is wrong.")
	}
}
