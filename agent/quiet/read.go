package quiet

import (
	"fmt"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// Proc reads the counters of a node.
type Proc struct{ fs procfs.FS }

// NewProc returns a Proc that reads the /proc file system mounted at mount.
func NewProc(mount string) (Proc, error) {
	p, err := procfs.NewFS(mount)
	if err != nil {
		return Proc{}, fmt.Errorf("read the counters of this node: %w", err)
	}
	return Proc{p}, nil
}

// Read reads the current counters.
func (p Proc) Read() (Reading, error) {
	stat, err := p.fs.Stat()
	if err != nil {
		return Reading{}, fmt.Errorf("read the CPU times of this node: %w", err)
	}
	var own unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &own); err != nil {
		return Reading{}, fmt.Errorf("read the CPU time of this process: %w", err)
	}
	t := stat.CPUTotal
	return Reading{
		Time: time.Now(),
		// User and Nice include guest time.
		Busy:  t.User + t.Nice + t.System + t.IRQ + t.SoftIRQ,
		Steal: t.Steal,
		Own:   seconds(own.Utime) + seconds(own.Stime),
	}, nil
}

func seconds(t unix.Timeval) float64 { return time.Duration(t.Nano()).Seconds() }
