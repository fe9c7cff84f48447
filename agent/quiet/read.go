package quiet

import (
	"errors"
	"fmt"
	"io/fs"
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

// Pressure returns the share of the last ten seconds in which tasks waited for a CPU, in
// percent. It returns 0 if Linux is configured not to record it.
func (p Proc) Pressure() (float64, error) {
	stats, err := p.fs.PSIStatsForResource("cpu")
	// With psi=0 the file exists but cannot be read.
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.EOPNOTSUPP) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the CPU pressure of this node: %w", err)
	}
	if stats.Some == nil {
		return 0, nil
	}
	return stats.Some.Avg10, nil
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
