package work

import (
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/yaml"
)

// Work is what a program does.
type Work struct {
	// CPU is in cores, Memory in bytes.
	CPU    Load `json:"cpu"`
	Memory Load `json:"memory"`
	// Startup is done once, before anything else. Job is done next to CPU, and then the
	// program ends.
	Startup *Task `json:"startup"`
	Job     *Task `json:"job"`
	Ready   Ready `json:"ready"`
}

// Task is a fixed amount of work. With fewer cores, it takes longer.
type Task struct {
	CoreSeconds float64 `json:"coreSeconds"`
	// Cores is how many cores the task can use at a time. 0 means one.
	Cores Amount `json:"cores"`
	// ExitCode is the exit code of a program that ends with the task.
	ExitCode int32 `json:"exitCode"`
}

// Ready describes when a program is ready: once it is started, and after a delay.
type Ready struct {
	After Duration `json:"after"`
	// Share is the percentage of the cores it needs below which it is not ready.
	Share float64 `json:"share"`
	// Lost are the times at which it is not ready, counted from its start.
	Lost []Window `json:"lost"`
}

// Window is a time span that may recur.
type Window struct {
	At    Duration `json:"at"`
	For   Duration `json:"for"`
	Every Duration `json:"every"`
}

// A program that declares no work needs almost nothing.
const (
	idleCores = 0.001
	// IdleBytes is the memory of a program that does not declare any.
	IdleBytes = 16 << 20
	// idlePart is the largest part of its memory limit that it needs.
	idlePart = 0.9
)

// Idle returns the work of a program that declares none. With little memory, it needs less.
func Idle(memoryLimit int64) *Work {
	bytes := Amount(IdleBytes)
	if memoryLimit > 0 {
		bytes = min(bytes, Amount(memoryLimit)*idlePart)
	}
	return &Work{CPU: Load{{Constant: new(Amount(idleCores))}}, Memory: Load{{Constant: &bytes}}}
}

// Parse reads work from YAML.
func Parse(text string) (*Work, error) {
	var w Work
	if err := yaml.UnmarshalStrict([]byte(text), &w); err != nil {
		return nil, err
	}
	if w.CPU == nil {
		w.CPU = Idle(0).CPU
	}
	if w.Memory == nil {
		w.Memory = Idle(0).Memory
	}
	if err := w.check(); err != nil {
		return nil, err
	}
	return &w, nil
}

func (w *Work) check() error {
	if err := w.CPU.check(cores); err != nil {
		return fmt.Errorf("cpu: %w", err)
	}
	if err := w.Memory.check(bytes); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	if err := w.Startup.check(); err != nil {
		return fmt.Errorf("startup: %w", err)
	}
	if w.Startup != nil && w.Startup.ExitCode != 0 {
		return errors.New("startup: a program does not end with its startup, so it has no exitCode")
	}
	if err := w.Job.check(); err != nil {
		return fmt.Errorf("job: %w", err)
	}
	if err := w.Ready.check(); err != nil {
		return fmt.Errorf("ready: %w", err)
	}
	return nil
}

func (t *Task) check() error {
	switch {
	case t == nil:
		return nil
	case t.CoreSeconds <= 0:
		return fmt.Errorf("coreSeconds %g is not positive", t.CoreSeconds)
	case cores.check(t.Cores) != nil:
		return cores.check(t.Cores)
	case t.ExitCode < 0 || t.ExitCode > 255:
		return fmt.Errorf("exitCode %d is not between 0 and 255", t.ExitCode)
	}
	return nil
}

// cores returns how many cores the task can use.
func (t *Task) cores() float64 {
	if t.Cores == 0 {
		return 1
	}
	return float64(t.Cores)
}

func (r *Ready) check() error {
	if r.Share < 0 || r.Share > 100 {
		return fmt.Errorf("share %g is not a percentage", r.Share)
	}
	for _, window := range r.Lost {
		if err := window.check(); err != nil {
			return fmt.Errorf("lost: %w", err)
		}
	}
	return nil
}

func (w Window) check() error {
	switch {
	case w.For <= 0:
		return errors.New("\"for\" is missing")
	case w.Every != 0 && w.Every < w.For:
		return fmt.Errorf("it recurs every %v but lasts %v", time.Duration(w.Every), time.Duration(w.For))
	}
	return nil
}

// contains reports whether the window is open at an age.
func (w Window) contains(age time.Duration) bool {
	since := age - time.Duration(w.At)
	if since >= 0 && w.Every != 0 {
		since %= time.Duration(w.Every)
	}
	return since >= 0 && since < time.Duration(w.For)
}
