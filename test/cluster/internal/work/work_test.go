package work

import (
	"math"
	"strings"
	"testing"
	"time"
)

// noon is a Wednesday.
var noon = time.Date(2026, 1, 7, 12, 0, 0, 0, time.UTC)

func mustParse(t *testing.T, text string) *Work {
	t.Helper()
	w, err := Parse(text)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	return w
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

func TestLoad(t *testing.T) {
	for _, test := range []struct {
		name string
		cpu  string
		// at is the time since noon, age the time since the start.
		at, age time.Duration
		want    float64
	}{
		{"a quantity is constant", `250m`, 0, 0, 0.25},
		{"parts add up", `[{constant: 250m}, {constant: "1"}]`, 0, 0, 1.25},
		{"no part is no load", `[]`, 0, 0, 0},
		{"a wave is highest at its peak", `[{wave: "2", period: 24h, peak: 12h}]`, 0, 0, 2},
		{"a wave is lowest half a period later", `[{wave: "2", period: 24h, peak: 12h}]`, 12 * time.Hour, 0, 0},
		{"a wave passes its middle in between", `[{wave: "2", period: 24h, peak: 12h}]`, 6 * time.Hour, 0, 1},
		{"a weekly peak rises on its days", `[{weekly: "2", days: [Tue, Wed], from: 9h, to: 15h}]`, 0, 0, 2},
		{"a weekly peak rises slowly", `[{weekly: "2", days: [Wed], from: 11h, to: 17h}]`, 0, 0, 1},
		{"a weekly peak is over in the evening", `[{weekly: "2", days: [Wed], from: 9h, to: 15h}]`, 4 * time.Hour, 0, 0},
		{"a weekly peak is not there on other days", `[{weekly: "2", days: [Tue, Thu], from: 9h, to: 15h}]`, 0, 0, 0},
		{"a spike begins after the start", `[{spike: "2", at: 1m, for: 10s}]`, 0, 59 * time.Second, 0},
		{"a spike lasts", `[{spike: "2", at: 1m, for: 10s}]`, 0, 69 * time.Second, 2},
		{"a spike ends", `[{spike: "2", at: 1m, for: 10s}]`, 0, 70 * time.Second, 0},
		{"a spike can recur", `[{spike: "2", at: 1m, for: 10s, every: 1h}]`, 0, time.Hour + time.Minute, 2},
		{"a leak grows from the start", `[{leak: "2", every: 1m}]`, 0, 90 * time.Second, 3},
		{"a leak can end", `[{leak: "2", every: 1m, upTo: "5"}]`, 0, time.Hour, 5},
		{"a series holds each amount", `[{series: ["1", "2", "3"], step: 4h}]`, 3 * time.Hour, 0, 1},
		{"a series begins again", `[{series: ["1", "2", "3"], step: 4h}]`, 13 * time.Hour, 0, 1},
		{"a series continues", `[{series: ["1", "2", "3"], step: 4h}]`, 5 * time.Hour, 0, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			now := noon.Add(test.at)
			run := mustParse(t, "cpu: "+test.cpu).Start(now.Add(-test.age), 1, 0)
			if got := run.Cores(now); !near(got, test.want) {
				t.Errorf("got %g cores, want %g", got, test.want)
			}
		})
	}
	t.Run("bytes are written like memory", func(t *testing.T) {
		if got := mustParse(t, "memory: 64Mi").Start(noon, 2, 0).Bytes(noon); got != 64<<20 {
			t.Errorf("got %d bytes", got)
		}
	})
	t.Run("a leak stops where no memory can be left", func(t *testing.T) {
		w := mustParse(t, "{cpu: [{leak: 1, every: 1ns}], memory: [{leak: 1Pi, every: 1ns}]}")
		run, later := w.Start(noon, 1, 0), noon.Add(100*365*24*time.Hour)
		if cores, bytes := run.Cores(later), run.Bytes(later); cores != 1<<20 || bytes != 1<<50 {
			t.Errorf("got %g cores and %d bytes", cores, bytes)
		}
	})
	t.Run("an idle program fits its memory limit", func(t *testing.T) {
		if got := Idle(10<<20).Start(noon, 1, 0).Bytes(noon); got != 9<<20 {
			t.Errorf("got %d bytes", got)
		}
	})
	t.Run("what is not declared is almost nothing", func(t *testing.T) {
		run := mustParse(t, "{}").Start(noon, 1, 0)
		if cores, bytes := run.Cores(noon), run.Bytes(noon); cores != 0.001 || bytes != 16<<20 {
			t.Errorf("got %g cores and %d bytes", cores, bytes)
		}
	})
	t.Run("the same work needs fewer cores on a faster node", func(t *testing.T) {
		if got := mustParse(t, "cpu: 500m").Start(noon, 1.25, 0).Cores(noon); !near(got, 0.4) {
			t.Errorf("got %g cores", got)
		}
	})
	t.Run("noise varies around the load, and depends only on the seed and the time", noise)
}

func noise(t *testing.T) {
	w := mustParse(t, "cpu: [{constant: \"2\"}, {noise: 10}]")
	first, again, other := w.Start(noon, 1, 1), w.Start(noon.Add(-time.Hour), 1, 1), w.Start(noon, 1, 2)
	const minutes = 5000
	var sum, squares, product float64
	for i := range minutes {
		now := noon.Add(time.Duration(i) * time.Minute)
		got := first.Cores(now)
		if got < 1.8 || got > 2.2 {
			t.Fatalf("%g is more than 10%% off", got)
		}
		if again.Cores(now) != got || first.Cores(now.Add(59*time.Second)) != got {
			t.Fatalf("the same minute has different noise")
		}
		deviation := (got - 2) / 0.2
		sum += deviation
		squares += deviation * deviation
		product += deviation * (other.Cores(now) - 2) / 0.2
	}
	// Of independent, uniform numbers.
	if mean := sum / minutes; math.Abs(mean) > 0.05 {
		t.Errorf("the mean deviation is %g", mean)
	}
	if variance := squares / minutes; math.Abs(variance-1.0/3) > 0.03 {
		t.Errorf("the variance is %g", variance)
	}
	if covariance := product / minutes; math.Abs(covariance) > 0.03 {
		t.Errorf("two seeds have a covariance of %g", covariance)
	}
}

func TestRun(t *testing.T) {
	t.Run("startup work takes as long as the cores allow", startupWork)
	t.Run("startup work is done sooner on a faster node", startupWorkOnAFasterNode)
	t.Run("a program is ready after its delay", aProgramIsReadyAfterItsDelay)
	t.Run("a program is not ready in its windows", aProgramIsNotReadyInItsWindows)
	t.Run("a program that gets too little is not ready", aProgramThatGetsTooLittle)
	t.Run("a job ends with its exit code", aJobEnds)
	t.Run("changed work begins at the change, without a startup", changedWork)
}

func startupWork(t *testing.T) {
	run := mustParse(t, "{cpu: 100m, startup: {coreSeconds: 6, cores: 2}}").Start(noon, 1, 0)
	now := noon
	// It gets half of what it can use.
	for range 6 {
		if got := run.Cores(now); got != 2 || run.Ready(now) {
			t.Fatalf("%g cores at %v, ready: %t", got, now.Sub(noon), run.Ready(now))
		}
		now = now.Add(time.Second)
		run.Advance(now, 2, 1, time.Second)
	}
	if got := run.Cores(now); got != 0.1 || !run.Ready(now) {
		t.Errorf("%g cores after the startup, ready: %t", got, run.Ready(now))
	}
}

func startupWorkOnAFasterNode(t *testing.T) {
	run := mustParse(t, "startup: {coreSeconds: 6}").Start(noon, 2, 0)
	for i := range 3 {
		if run.Ready(noon) {
			t.Fatalf("ready after %d s", i)
		}
		run.Advance(noon, run.Cores(noon), 1, time.Second)
	}
	if !run.Ready(noon) {
		t.Errorf("not ready after %+v", run.Progress)
	}
}

func aProgramIsReadyAfterItsDelay(t *testing.T) {
	run := mustParse(t, "ready: {after: 5s}").Start(noon, 1, 0)
	if run.Ready(noon.Add(4999*time.Millisecond)) || !run.Ready(noon.Add(5*time.Second)) {
		t.Error("it is not ready after exactly 5 s")
	}
}

func aProgramIsNotReadyInItsWindows(t *testing.T) {
	run := mustParse(t, "ready: {lost: [{at: 1m, for: 10s, every: 5m}]}").Start(noon, 1, 0)
	for at, want := range map[time.Duration]bool{0: true, time.Minute: false, 70 * time.Second: true, 6 * time.Minute: false} {
		if got := run.Ready(noon.Add(at)); got != want {
			t.Errorf("ready at %v: %t", at, got)
		}
	}
}

func aProgramThatGetsTooLittle(t *testing.T) {
	run := mustParse(t, "{cpu: \"1\", ready: {share: 80}}").Start(noon, 1, 0)
	seconds := func(count int, got float64) {
		for range count {
			run.Advance(noon, 1, got, time.Second)
		}
	}
	seconds(60, 1)
	seconds(3, 0.5)
	if !run.Ready(noon) {
		t.Error("3 s are enough to make it unready")
	}
	seconds(10, 0.5)
	if run.Ready(noon) {
		t.Error("it is ready with half of its cores")
	}
	seconds(30, 1)
	if !run.Ready(noon) {
		t.Error("it does not become ready again")
	}
}

func changedWork(t *testing.T) {
	run := mustParse(t, "startup: {coreSeconds: 1}").Start(noon, 1, 0)
	now := noon.Add(time.Hour)
	run.Advance(now, 1, 1, time.Second)
	run.Change(mustParse(t, `{cpu: [{leak: "1", every: 1m}], startup: {coreSeconds: 9}, ready: {lost: [{at: 2m, for: 1m}]}}`), now)
	for age, want := range map[time.Duration]float64{0: 0, time.Minute: 1, 2 * time.Minute: 2} {
		if got := run.Cores(now.Add(age)); got != want {
			t.Errorf("%g cores %v after the change, want %g", got, age, want)
		}
	}
	if !run.Ready(now) || run.Ready(now.Add(2*time.Minute)) {
		t.Error("readiness is not lost 2 minutes after the change")
	}
	run.Change(mustParse(t, "{cpu: [], job: {coreSeconds: 1, exitCode: 2}}"), now)
	if _, ended := run.Ended(); ended {
		t.Error("the job has ended before it began")
	}
	run.Advance(now, 1, 1, time.Second)
	if exitCode, ended := run.Ended(); !ended || exitCode != 2 {
		t.Errorf("ended: %t, exit code %d", ended, exitCode)
	}
	starting := mustParse(t, "startup: {coreSeconds: 9}").Start(noon, 1, 0)
	if starting.Change(Idle(0), now); !starting.Ready(now) {
		t.Error("a program whose startup is taken away is not ready")
	}
}

func aJobEnds(t *testing.T) {
	run := mustParse(t, "{cpu: [], job: {coreSeconds: 10, cores: 2, exitCode: 3}}").Start(noon, 1, 0)
	for i := range 10 {
		if _, ended := run.Ended(); ended {
			t.Fatalf("it ended after %d s", i)
		}
		run.Advance(noon, run.Cores(noon), 1, time.Second)
	}
	if exitCode, ended := run.Ended(); !ended || exitCode != 3 {
		t.Errorf("ended: %t, exit code %d", ended, exitCode)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"cpu: fast":                                         `"fast" is not a quantity such as 250m or 64Mi`,
		"cpu: \"-1\"":                                       `"-1" is negative`,
		"cores: 1":                                          `unknown field "cores"`,
		"cpu: [{constant: 1, speed: 2}]":                    `unknown field "speed"`,
		"cpu: [{constant: 1, wave: 2}]":                     "cpu: part 1: constant and wave are different parts",
		"memory: [{constant: 1Mi}, {period: 1h}]":           "memory: part 2: it is none of constant, wave, weekly, spike, leak, series and noise",
		"cpu: [{wave: 1}]":                                  "a wave needs a period",
		"cpu: [{constant: 1, period: 1h}]":                  "constant has no period",
		"cpu: [{leak: 1, every: 1h, at: 1h}]":               "leak has no at",
		"cpu: [{weekly: 1, days: [Mon], from: 9h, to: 8h}]": "a weekly peak needs days, and times of the day from and to",
		"cpu: [{weekly: 1, days: [Monday]}]":                `"Monday" is not a day such as Mon`,
		"cpu: [{spike: 1, at: 1m}]":                         `"for" is missing`,
		"cpu: [{spike: 1, for: 1m, every: 1s}]":             "it recurs every 1s but lasts 1m0s",
		"cpu: [{series: [], step: 1m}]":                     "a series needs amounts and a step",
		"cpu: 64Mi":                                         "cpu: part 1: 6.7108864e+07 cores is not between 0 and 1.048576e+06",
		"cpu: 1e400":                                        "cpu: part 1: +Inf cores is not between",
		"memory: 64m":                                       "memory: part 1: 0.064 bytes is not between 1 and",
		"memory: [{series: [1Mi, 100E], step: 1m}]":         "memory: part 1: 1e+20 bytes is not between",
		"memory: [{leak: 1Mi, every: 1h, upTo: 100E}]":      "memory: part 1: 1e+20 bytes is not between",
		"job: {coreSeconds: 1, cores: 1e9}":                 "job: 1e+09 cores is not between",
		"cpu: [{noise: 110}]":                               "noise is not a percentage",
		"startup: {cores: 2}":                               "startup: coreSeconds 0 is not positive",
		"startup: {coreSeconds: 2, exitCode: 1}":            "a program does not end with its startup",
		"job: {coreSeconds: 2, exitCode: 256}":              "job: exitCode 256 is not between 0 and 255",
		"ready: {after: soon}":                              `"soon" is not a duration such as 90s or 24h`,
		"ready: {after: -1s}":                               `"-1s" is not a duration such as 90s or 24h`,
		"ready: {share: 101}":                               "ready: share 101 is not a percentage",
		"ready: {lost: [{at: 1m}]}":                         `ready: lost: "for" is missing`,
	} {
		t.Run(text, func(t *testing.T) {
			if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}
