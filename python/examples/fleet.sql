-- What a fleet's rows tell, in DuckDB:  duckdb < fleet.sql
-- `ratio` is a figure by the default engine's of the same task, so times of different machines are never mixed.
CREATE VIEW rows AS SELECT * FROM read_parquet('results.parquet/**/*.parquet', hive_partitioning = true);

-- Which engine wins on which hosts: the least time of a whole replay.
SELECT path, cpu, arg_min(engine, value) AS fastest, count(*) AS engines
FROM rows WHERE op = 'loop' AND metric = 'time' AND compared
GROUP BY path, cpu ORDER BY path;

-- Where the default engine is behind, beyond the spread of both.
SELECT other.path, other.engine, round(other.ratio, 2) AS ratio
FROM rows other JOIN rows mine USING (path, workload, op, metric, stat)
WHERE op = 'loop' AND metric = 'time' AND other.compared AND mine."default" AND other.hi < mine.lo
ORDER BY ratio;

-- Which traces are outliers: an allocation takes far more steps than in the fleet's middle.
SELECT path, engine, value AS steps, round(value / median(value) OVER (PARTITION BY engine), 1) AS by_median
FROM rows WHERE metric = 'work' AND stat = 'max' AND op = 'alloc'
QUALIFY by_median > 3 ORDER BY by_median DESC;

-- Files that were not replayed, and why.
SELECT path, error FROM rows WHERE error IS NOT NULL;
