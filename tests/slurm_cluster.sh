#!/usr/bin/env bash
# A SLURM cluster of several nodes on this one machine, for tests: real daemons, real accounting, no system services.
#
#   tests/slurm_cluster.sh install      the Debian packages (apt-get)
#   tests/slurm_cluster.sh start        controller, accounting database, nodes n1, n2, ...; returns when all answer
#   tests/slurm_cluster.sh crash NODE   SIGKILL to the node's daemon and to all that runs on it, as if it lost power
#   tests/slurm_cluster.sh revive NODE  the node comes back
#   tests/slurm_cluster.sh status
#   tests/slurm_cluster.sh stop
#
# Root only. Settings: CLUSTER_DIR (state and logs), CLUSTER_NODES, CLUSTER_CPUS and CLUSTER_MEMORY (MiB) of a node, CLUSTER_PORT.
# A machine that has a SLURM of its own, seen by its /etc/slurm/slurm.conf, is left alone.
set -eEuo pipefail

state=${CLUSTER_DIR:-/var/tmp/foldshift-slurm}
nodes=${CLUSTER_NODES:-3}
cpus=${CLUSTER_CPUS:-2}
memory=${CLUSTER_MEMORY:-16000}
port=${CLUSTER_PORT:-26817}
packages=(munge slurmctld slurmd slurm-client slurmdbd mariadb-server)
# The commands inside a job are told nothing of SLURM_CONF (Snakemake's plugin clears it): the usual place it must be.
visible=/etc/slurm/slurm.conf
name=foldshift
export SLURM_CONF=$state/slurm.conf

fail() { echo "slurm_cluster: $*" >&2; exit 1; }
trap 'echo "slurm_cluster: line $LINENO failed: $BASH_COMMAND; see $state/*.log" >&2' ERR

# within SECONDS WHAT COMMAND...: wait until the command succeeds.
within() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || fail "$what does not answer; see $state/*.log"
    sleep 0.1
  done
}

# Daemons stay in the foreground of a session of their own, so that their PID is the one that is recorded.
launch() {
  local daemon=$1
  shift
  setsid "$@" >>"$state/$daemon.log" 2>&1 </dev/null &
  echo $! >"$state/$daemon.pid"
}

# lives DAEMON: its recorded process exists, is no zombie, and is still the program that was started.
lives() {
  local pid
  pid=$(cat "$state/$1.pid" 2>/dev/null) || return 1
  grep -qs '^State:[[:space:]]*[^Z]' "/proc/$pid/status" && grep -qs "$2" "/proc/$pid/comm"
}

end() {
  if lives "$1" "$2"; then
    kill "$(cat "$state/$1.pid")" || true
    for _ in {1..50}; do lives "$1" "$2" || break; sleep 0.1; done
    lives "$1" "$2" && kill -9 "$(cat "$state/$1.pid")"
  fi
  rm -f "$state/$1.pid"
}

configure() {
  local host numbers
  host=$(hostname -s)
  # Times are short, since tests wait for them. Memory is watched by SLURM itself: control groups are seldom to be had in containers.
  cat >"$SLURM_CONF" <<EOF
ClusterName=$name
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
AuthInfo=socket=$state/munge/socket,cred_expire=5
StateSaveLocation=$state/controller
SlurmdSpoolDir=$state/spool.%n
SlurmctldPidFile=$state/run/slurmctld.pid
SlurmdPidFile=$state/run/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,bf_interval=2,sched_min_interval=0
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((port + 1))
AccountingStoragePass=$state/munge/socket
AccountingStoreFlags=job_comment
MinJobAge=3600
KillWait=2
MessageTimeout=5
TCPTimeout=1
SlurmdTimeout=6
ReturnToService=2
EOF
  for ((numbers = 1; numbers <= nodes; numbers++)); do
    echo "NodeName=n$numbers NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 10 + numbers)) CPUs=$cpus RealMemory=$memory"
  done >>"$SLURM_CONF"
  echo "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE" >>"$SLURM_CONF"
  (
    umask 077
    cat >"$state/slurmdbd.conf" <<EOF
AuthInfo=socket=$state/munge/socket
DbdHost=$host
DbdAddr=127.0.0.1
DbdPort=$((port + 1))
SlurmUser=root
PidFile=$state/run/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$((port + 2))
StorageUser=slurm
StoragePass=only-on-this-machine
StorageLoc=accounting
EOF
  )
}

sql() { mariadb --no-defaults --socket="$state/database/socket" "$@"; }

start_database() {
  chown mysql "$state/database"
  mariadb-install-db --no-defaults --user=mysql --datadir="$state/database/data" --skip-test-db >"$state/database.log" 2>&1
  launch database mariadbd --no-defaults --user=mysql --datadir="$state/database/data" --socket="$state/database/socket" \
    --pid-file="$state/database/pid" --bind-address=127.0.0.1 --port=$((port + 2)) --innodb-lock-wait-timeout=900 --innodb-flush-log-at-trx-commit=0
  within 30 "the database" sql -e 'select 1'
  sql -e "create database accounting; create user slurm@'127.0.0.1' identified by 'only-on-this-machine';
          create user slurm@localhost identified by 'only-on-this-machine';
          grant all on accounting.* to slurm@'127.0.0.1'; grant all on accounting.* to slurm@localhost;"
  launch slurmdbd slurmdbd -D
  within 30 "slurmdbd" sacctmgr --noheader show cluster
  sacctmgr --immediate add cluster "$name" >/dev/null
  sacctmgr --immediate add account tests cluster="$name" >/dev/null
  sacctmgr --immediate add user root account=tests >/dev/null
}

start_node() {
  mkdir -p "$state/spool.$1"
  launch "$1" slurmd -D -N "$1"
}

ready() { [ "$(sinfo --noheader --Node --format='%T' | grep -c '^idle$')" -eq "$nodes" ]; }
node_up() { sinfo --noheader --nodes="$1" --format='%T' | grep -qE '^(idle|mixed|allocated)$'; }
no_jobs() { [ -z "$(squeue --noheader)" ]; }

start() {
  local number
  [ "$(id -u)" = 0 ] || fail "root only"
  for command in munged slurmctld slurmd sacct slurmdbd mariadbd; do
    [ -n "$(PATH=$PATH:/usr/sbin command -v "$command")" ] || fail "$command is not installed; do: tests/slurm_cluster.sh install"
  done
  if [ -e "$visible" ] || [ -L "$visible" ]; then
    [ "$(readlink "$visible")" = "$SLURM_CONF" ] || fail "$visible exists: this machine has a SLURM of its own"
    stop
  fi
  rm -rf "$state"
  mkdir -p "$state"/{munge,run,controller,database} /etc/slurm
  configure
  ln -s "$SLURM_CONF" "$visible"
  (umask 077 && head -c 128 /dev/urandom >"$state/munge/key")
  launch munged munged --foreground --force --key-file="$state/munge/key" --socket="$state/munge/socket" --pid-file="$state/run/munged.pid" \
    --log-file="$state/munged.log" --seed-file="$state/munge/seed"
  within 10 "munge" munge --socket="$state/munge/socket" --no-input
  start_database
  launch slurmctld slurmctld -D
  within 20 "slurmctld" scontrol ping
  for ((number = 1; number <= nodes; number++)); do start_node "n$number"; done
  within 30 "a node" ready
  echo "slurm_cluster: $nodes nodes of $cpus CPUs are up"
}

# The processes of a node's jobs carry its name; the steps' own daemons are their parents.
crash() {
  local file pid parent
  lives "$1" slurmd || fail "no node $1 runs"
  local doomed=()
  for file in /proc/[0-9]*/environ; do
    if tr '\0' '\n' 2>/dev/null <"$file" | grep -qx "SLURMD_NODENAME=$1" && tr '\0' '\n' 2>/dev/null <"$file" | grep -qx "SLURM_CLUSTER_NAME=$name"; then
      pid=${file//[!0-9]/}
      doomed+=("$pid")
      parent=$(awk '/^PPid/ {print $2}' "/proc/$pid/status" 2>/dev/null || true)
      grep -qs '^slurmstepd' "/proc/${parent:-0}/comm" && doomed+=("$parent")
    fi
  done
  kill -9 "$(cat "$state/$1.pid")"
  rm -f "$state/$1.pid"
  [ ${#doomed[@]} -eq 0 ] || kill -9 "${doomed[@]}" 2>/dev/null || true
  echo "slurm_cluster: node $1 is dead, with ${#doomed[@]} processes"
}

revive() {
  lives "$1" slurmd || start_node "$1"
  within 60 "node $1" node_up "$1"
}

status() {
  lives slurmctld slurmctld || { echo "slurm_cluster: not running"; exit 3; }
  sinfo --Node --long
  squeue
}

stop() {
  local node
  if lives slurmctld slurmctld; then
    # First the jobs: a node's daemon that ends leaves the steps of its jobs behind.
    scancel --user="$(id -un)" --quiet || true
    for _ in {1..100}; do no_jobs && break; sleep 0.1; done
  fi
  # All nodes at once: each takes some seconds to go.
  for node in "$state"/n[0-9]*.pid; do
    node=$(basename "$node" .pid)
    ! lives "$node" slurmd || kill "$(cat "$state/$node.pid")" || true
  done
  for node in "$state"/n[0-9]*.pid; do end "$(basename "$node" .pid)" slurmd; done
  end slurmctld slurmctld
  end slurmdbd slurmdbd
  end database mariadbd
  end munged munged
  [ "$(readlink "$visible" 2>/dev/null)" != "$SLURM_CONF" ] || rm -f "$visible"
}

case "${1:-} ${2:-}" in
"install ") apt-get -o DPkg::Lock::Timeout=300 update -qq && DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "${packages[@]}" >/dev/null ;;
"start ") start ;;
"stop ") stop ;;
"status ") status ;;
"crash "n*) crash "$2" ;;
"revive "n*) revive "$2" ;;
*) fail "install, start, stop, status, crash NODE or revive NODE?" ;;
esac
