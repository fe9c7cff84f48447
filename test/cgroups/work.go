package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	disk       = "/dev/ram0"
	diskBytes  = 3 * cacheBytes
	holdBytes  = 64 << 20
	spikeBytes = 100 << 20
	cacheBytes = 100 << 20
	cacheLimit = 48 << 20
)

// work is what the process of a container does, until it is killed.
func work(what string) {
	var (
		file *os.File
		err  error
	)
	switch what {
	case "pause":
		err = unix.Exec(pause, []string{pause}, nil)
	case "burn":
		for range 2 {
			go func() {
				for n := 0; ; n++ { // It uses CPU.
				}
			}()
		}
	case "hold":
		err = hold(holdBytes)
	case "spike": // For a part of the time between two samples.
		time.Sleep(samples / 2 * interval)
		err = exec.Command("/proc/self/exe", "work", "once").Run()
	case "once":
		if err = hold(spikeBytes); err == nil {
			os.Exit(0)
		}
	case "cache":
		file, err = read(0)
	case "limit":
		file, err = read(1)
	case "cachespike":
		time.Sleep(samples / 2 * interval)
		if file, err = read(2); err == nil {
			err = file.Close()
		}
	}
	if err != nil {
		fmt.Printf("FAIL: %s: %v\n", what, err)
	}
	for { // select{} would be a deadlock without other goroutines.
		time.Sleep(time.Hour)
		runtime.KeepAlive(file)
	}
}

// hold allocates memory and touches all of it.
func hold(n int) error {
	memory, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return err
	}
	for i := 0; i < n; i += 4096 {
		memory[i] = 1
	}
	return nil
}

// read reads a part of the disk, which fills the page cache until the file is closed. Pages that
// several groups read belong to the first of them, so each reads a part of its own.
func read(part int64) (*os.File, error) {
	file, err := os.Open(disk)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, io.NewSectionReader(file, part*cacheBytes, cacheBytes))
	return file, err
}
