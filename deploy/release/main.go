package main

import (
	"errors"
	"fmt"
	"os"
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

// run writes a release, or only its image, as the arguments describe it.
func run(args []string) error {
	var r release
	var created int64
	var called, tar string
	flags := pflag.NewFlagSet("release", pflag.ContinueOnError)
	flags.StringVar(&r.programs, "programs", "", "folder that has a folder per platform, such as linux-amd64, with its programs")
	flags.StringSliceVar(&r.platforms, "platform", nil, "platform to pack, such as linux/amd64; can be repeated")
	flags.StringVar(&r.source, "source", "", "folder of the source code, with its chart")
	flags.StringVar(&r.version, "version", "", "version of the programs")
	flags.StringVar(&r.commit, "commit", "", "commit that the programs are built from")
	flags.Int64Var(&created, "created", 0, "time of that commit, in seconds since 1970")
	flags.StringVar(&called, "name", "", "NAME:TAG of the image once it is loaded")
	flags.StringVar(&r.output, "output", "", "folder to write the release to")
	flags.StringVar(&tar, "image", "", "write only the image, to this tar")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if r.programs == "" || len(r.platforms) == 0 || (r.output == "") == (tar == "") {
		return errors.New("set --programs, --platform, and either --output or --image")
	}
	var err error
	if r.name, err = name.NewTag(called); err != nil {
		return fmt.Errorf("--name must be NAME:TAG: %w", err)
	}
	r.created = time.Unix(created, 0).UTC()
	if tar != "" {
		return r.writeImageTo(tar)
	}
	return r.write()
}
