package backtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/prometheus"
)

// keptFor is how long the answers of a Prometheus are kept for the next attempt.
const keptFor = 24 * time.Hour

// keptOf returns the folder in which the answers of a Prometheus are kept until a backtest has used them, or "" if there is
// no place for it. It removes those that nobody came back for.
//
// Callers who may see different series have different folders. A token is not a part of that, because a new one may be the
// reason for the next attempt, but its file is. The name of a folder is a hash, because an address may contain a password.
func keptOf(c prometheus.Config) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	all := filepath.Join(cache, "resizectl", "backtest")
	entries, _ := os.ReadDir(all)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > keptFor {
			_ = os.RemoveAll(filepath.Join(all, entry.Name()))
		}
	}
	headers, _ := os.ReadFile(c.HeadersFile)
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", c.Address, c.Tenant, c.TokenFile, headers))
	return filepath.Join(all, hex.EncodeToString(sum[:]))
}

// forget removes the answers, which are no longer needed.
func (in *input) forget() {
	if in.kept != "" {
		_ = os.RemoveAll(in.kept)
	}
}
