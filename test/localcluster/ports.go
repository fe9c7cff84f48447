package localcluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports come from below the range that the kernel uses for outgoing connections. Otherwise, an
// outgoing connection could take a port before it is used.
const (
	firstPort = 10000
	portCount = 10000
)

var (
	chosenMu sync.Mutex
	// chosen ports are not returned again in this process, where another caller could use
	// them first.
	chosen = map[int]bool{}
)

// FreeAddress returns an address on loopback with a free port. If preferred is free and not
// empty, it returns preferred.
func FreeAddress(preferred string) (string, error) {
	chosenMu.Lock()
	defer chosenMu.Unlock()
	if preferred != "" && isFree(preferred) {
		return preferred, nil
	}
	for _, offset := range rand.Perm(portCount) {
		port := firstPort + offset
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if !chosen[port] && isFree(address) {
			chosen[port] = true
			return address, nil
		}
	}
	return "", errors.New("find a free port: all are in use")
}

func isFree(address string) bool {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return false
	}
	return listener.Close() == nil
}
