package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// target is a target of make and the seconds that its recipe took, of the clock and of processors.
type target struct {
	name      string
	wall, cpu float64
}

// readTargets returns the targets that ran, the longest first. Each line of the file is a line of a
// recipe: the target, and the seconds of the clock, of user code and of the kernel.
func readTargets(folder string) ([]target, error) {
	content, err := os.ReadFile(filepath.Join(folder, "targets"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []target
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(strings.ReplaceAll(line, ",", ".")) // The decimal point of some locales.
		if len(fields) != 4 {
			return nil, fmt.Errorf("read the times of targets: %q has %d fields, not 4", line, len(fields))
		}
		var seconds [3]float64
		for n := range seconds {
			if seconds[n], err = strconv.ParseFloat(fields[n+1], 64); err != nil {
				return nil, fmt.Errorf("read the times of targets: %w", err)
			}
		}
		at := slices.IndexFunc(all, func(t target) bool { return t.name == fields[0] })
		if at < 0 {
			at, all = len(all), append(all, target{name: fields[0]})
		}
		all[at].wall += seconds[0]
		all[at].cpu += seconds[1] + seconds[2]
	}
	slices.SortStableFunc(all, func(a, b target) int { return cmp.Compare(b.wall, a.wall) })
	return all, nil
}
