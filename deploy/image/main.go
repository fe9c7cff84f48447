package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/pflag"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run packs the binaries that the arguments name, and prints the image's digest.
func run(args []string) error {
	var b build
	var binaries map[string]string
	var created int64
	var called, output string
	flags := pflag.NewFlagSet("image", pflag.ContinueOnError)
	flags.StringToStringVar(&binaries, "binary", nil, "platform and file of a binary, e.g. linux/amd64=bin/workload-resizer; can be repeated")
	flags.StringVar(&called, "name", "workload-resizer:latest", "name of the image once it is loaded")
	flags.StringVar(&b.version, "version", "development", "version of the binaries")
	flags.StringVar(&b.revision, "revision", "", "commit that the binaries are built from")
	flags.Int64Var(&created, "created", 0, "time of that commit, in seconds since 1970")
	flags.StringVarP(&output, "output", "o", "", "tar file to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if len(binaries) == 0 || output == "" {
		return errors.New("missing flags: set --output, and --binary for each platform")
	}
	var err error
	if b.name, err = name.NewTag(called); err != nil {
		return fmt.Errorf("--name must be NAME:TAG: %w", err)
	}
	b.created = time.Unix(created, 0).UTC()
	index, err := b.index(binaries)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
		return fmt.Errorf("create the directory for the image: %w", err)
	}
	if err := b.write(index, output); err != nil {
		return fmt.Errorf("write image %s: %w", output, err)
	}
	digest, err := index.Digest()
	if err != nil {
		return fmt.Errorf("compute the digest of the image: %w", err)
	}
	fmt.Printf("%s %s@%s\n", output, b.name, digest)
	return nil
}
