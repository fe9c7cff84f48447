package work

import (
	"math"
	"time"
)

// Run is one run of a program, from its start to its end.
type Run struct {
	work  *Work
	speed float64
	seed  uint64
	// Progress survives the process that simulates the program.
	Progress Progress
}

// Progress is how far a run is.
type Progress struct {
	// Since is when the work began, from which ages count.
	Since time.Time `json:"since"`
	// Startup and Job are the core-seconds that are done, on a node of speed 1.
	Startup float64 `json:"startup"`
	Job     float64 `json:"job"`
	// Started is when the startup was done; it is zero before.
	Started time.Time `json:"started"`
	// Both are recent averages, in cores: of the demand, and of what the machine gave.
	Wanted float64 `json:"wanted"`
	Got    float64 `json:"got"`
}

// shareWindow is the time over which a program notices that it gets too little.
const shareWindow = 10 * time.Second

// Start starts a program on a node of the given speed. The seed tells the noise of one
// program from that of another.
func (w *Work) Start(now time.Time, speed float64, seed uint64) *Run {
	run := &Run{speed: speed, seed: seed}
	run.Change(w, now)
	return run
}

// Change changes what a running program does. Ages count from now. A program that has done its
// startup does not repeat it.
func (r *Run) Change(w *Work, now time.Time) {
	r.work, r.Progress.Since, r.Progress.Job = w, now, 0
	if w.Startup == nil && r.Progress.Started.IsZero() {
		r.Progress.Started = now
	}
}

func (r *Run) moment(now time.Time) moment {
	return moment{now: now, age: now.Sub(r.Progress.Since), seed: r.seed}
}

// Cores returns how many cores of its node the program can use.
func (r *Run) Cores(now time.Time) float64 {
	if r.Progress.Started.IsZero() {
		return r.work.Startup.cores()
	}
	wanted := min(r.work.CPU.at(r.moment(now))/r.speed, float64(cores.max))
	if r.work.Job != nil {
		wanted += r.work.Job.cores()
	}
	return wanted
}

// Bytes returns how much memory the program needs.
func (r *Run) Bytes(now time.Time) int64 {
	return int64(math.Round(min(r.work.Memory.at(r.moment(now)), float64(bytes.max))))
}

// Advance tells the program how many cores it got, of those it could use, for a time that has
// ended now. A load loses what it does not get in time, like requests that time out. A
// task takes longer.
func (r *Run) Advance(now time.Time, wanted, got float64, elapsed time.Duration) {
	p := &r.Progress
	// Weighted like the averages of the kernel.
	weight := 1 - math.Exp(-elapsed.Seconds()/shareWindow.Seconds())
	p.Wanted += (wanted - p.Wanted) * weight
	p.Got += (got - p.Got) * weight
	if p.Started.IsZero() {
		p.Startup += got * r.speed * elapsed.Seconds()
		if p.Startup >= r.work.Startup.CoreSeconds {
			p.Started = now
		}
		return
	}
	if r.work.Job != nil && wanted > 0 {
		p.Job += got * r.work.Job.cores() / wanted * r.speed * elapsed.Seconds()
	}
}

// Ready reports whether the program is ready.
func (r *Run) Ready(now time.Time) bool {
	ready := &r.work.Ready
	if r.Progress.Started.IsZero() || now.Before(r.Progress.Started.Add(time.Duration(ready.After))) {
		return false
	}
	for _, window := range ready.Lost {
		if window.contains(now.Sub(r.Progress.Since)) {
			return false
		}
	}
	return r.Progress.Got*100 >= r.Progress.Wanted*ready.Share
}

// Ended reports whether the program has ended, and its exit code.
func (r *Run) Ended() (exitCode int32, ended bool) {
	job := r.work.Job
	if job == nil || r.Progress.Job < job.CoreSeconds {
		return 0, false
	}
	return job.ExitCode, true
}
