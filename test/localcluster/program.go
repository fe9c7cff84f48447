package localcluster

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
)

// checkStatic returns an error if a program is not static. Images contain no libraries.
func checkStatic(program string) error {
	file, err := elf.Open(program)
	if err != nil {
		return fmt.Errorf("read %s: %w", program, err)
	}
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP {
			return errors.Join(fmt.Errorf("%s is not static: run \"make build\"", program), file.Close())
		}
	}
	return file.Close()
}

// linkOrCopy makes a program available under another name. It copies the program if a hard link
// is not possible, e.g. across file systems.
func linkOrCopy(program, name string) error {
	if os.Link(program, name) == nil {
		return nil
	}
	from, err := os.Open(program)
	if err != nil {
		return err
	}
	to, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return errors.Join(err, from.Close())
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close(), from.Close())
}
